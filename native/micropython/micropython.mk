# User C module `cabinet_core`: build a port with USER_C_MODULES=<this tree>/native and make finds this file.
CABINET_DIR := $(USERMOD_DIR)
CABINET_CORE_DIR := $(patsubst %/,%,$(dir $(USERMOD_DIR)))/core

SRC_USERMOD_C += $(CABINET_DIR)/cabinet_core.c
# No names of Python in these, so the port need not scan them. cycle.c is for host tools only.
SRC_USERMOD_LIB_C += $(addprefix $(CABINET_CORE_DIR)/,chacha20.c crc32.c error.c eval.c hmac.c pack.c round.c sha256.c stream.c)
CFLAGS_USERMOD += -I$(CABINET_CORE_DIR)

# Stricter than the ports, for our files alone; the game arithmetic is worth some kilobytes of speed.
$(BUILD)/micropython/%.o $(BUILD)/core/%.o: CFLAGS += -Wall -Wextra -Wunused-parameter -Werror
$(BUILD)/core/%.o: CFLAGS += -O2
