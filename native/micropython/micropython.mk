# User C module `cabinet_core`: build a port with USER_C_MODULES=<this tree>/native and make finds this file.
CABINET_DIR := $(USERMOD_DIR)
CABINET_CORE_DIR := $(patsubst %/,%,$(dir $(USERMOD_DIR)))/core

SRC_USERMOD_C += $(addprefix $(CABINET_DIR)/,cabinet_core.c pack_object.c round_object.c health_object.c)
# No names of Python in these, so the port need not scan them. What core/ has besides is for host tools only.
SRC_USERMOD_LIB_C += $(addprefix $(CABINET_CORE_DIR)/, \
    crc32.c sha256.c hmac.c chacha20.c stream.c health.c error.c \
    pack.c pack_rows.c pack_symbols.c pack_steps.c pack_features.c pack_award.c \
    eval.c ways.c spin.c steps.c feature.c gamble.c round.c)
CFLAGS_USERMOD += -I$(CABINET_CORE_DIR)

# Stricter than the ports, for our files alone; the game arithmetic is worth some kilobytes of speed.
$(BUILD)/micropython/%.o $(BUILD)/core/%.o: CFLAGS += -Wall -Wextra -Wunused-parameter -Werror
$(BUILD)/core/%.o: CFLAGS += -O2
