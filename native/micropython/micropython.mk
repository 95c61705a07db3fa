# User C module `cabinet_core`: build a port with USER_C_MODULES=<this tree>/native and make finds this file.
CABINET_DIR := $(USERMOD_DIR)
CABINET_CORE_DIR := $(patsubst %/,%,$(dir $(USERMOD_DIR)))/core

SRC_USERMOD_C += $(addprefix $(CABINET_DIR)/,cabinet_core.c pack_object.c round_object.c health_object.c p256.c)
# No names of Python in these, so the port need not scan them. What core/ has besides is for host tools only.
SRC_USERMOD_LIB_C += $(addprefix $(CABINET_CORE_DIR)/, \
    crc32.c crc16.c sha256.c hmac.c chacha20.c stream.c health.c error.c \
    pack.c pack_rows.c pack_symbols.c pack_steps.c pack_features.c pack_award.c \
    eval.c ways.c spin.c steps.c feature.c gamble.c round.c)
CFLAGS_USERMOD += -I$(CABINET_CORE_DIR)

# Signatures: those files of BearSSL that ECDSA on P-256 needs, out of BEARSSL_DIR, its source tree.
ifeq ($(BEARSSL_DIR),)
$(error BEARSSL_DIR must name the source tree of BearSSL)
endif
CFLAGS_USERMOD += -I$(BEARSSL_DIR)/inc
SRC_USERMOD_PATHFIX_LIB_C += $(addprefix bearssl/, codec/ccopy.c ec/ec_p256_m31.c ec/ec_secp256r1.c ec/ec_secp384r1.c \
    ec/ec_secp521r1.c ec/ecdsa_i31_bits.c ec/ecdsa_i31_vrfy_raw.c int/i31_add.c int/i31_bitlen.c int/i31_decmod.c \
    int/i31_decode.c int/i31_encode.c int/i31_fmont.c int/i31_iszero.c int/i31_modpow.c int/i31_montmul.c \
    int/i31_muladd.c int/i31_ninv31.c int/i31_rshift.c int/i31_sub.c int/i31_tmont.c int/i32_div32.c)
$(BUILD)/bearssl/%.o: CFLAGS += -I$(BEARSSL_DIR)/src -O2 -Wno-error
$(BUILD)/bearssl/%.o: $(BEARSSL_DIR)/src/%.c
	$(call compile_c)

# Stricter than the ports, for our files alone; the game arithmetic is worth some kilobytes of speed.
$(BUILD)/micropython/%.o $(BUILD)/core/%.o: CFLAGS += -Wall -Wextra -Wunused-parameter -Werror
$(BUILD)/core/%.o: CFLAGS += -O2
