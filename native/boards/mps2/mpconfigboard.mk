# MicroPython board of the emulated cabinet: ports/qemu with BOARD_DIR=<this folder> and USER_C_MODULES=<this tree>/native.
QEMU_ARCH = arm
QEMU_MACHINE = mps2-an385

CFLAGS += -mthumb -mcpu=cortex-m3 -mfloat-abi=soft
CFLAGS += -DMP_CONFIGFILE='"$(BOARD_DIR)/cabinet_mpconfig.h"'
CFLAGS += -DMICROPY_HW_MCU_NAME='"Cortex-M3"'
# Code memory is plentiful, turns of the loop are not: -O2 everywhere, after the port's own -Os.
CFLAGS_EXTRA += -O2
LDSCRIPT = $(BOARD_DIR)/mps2.ld
MICROPY_HEAP_SIZE = 393216

SRC_BOARD_O = shared/runtime/gchelper_native.o shared/runtime/gchelper_thumb2.o
MPY_CROSS_FLAGS += -march=armv7m -X emit=native

CABINET_BOARD := $(patsubst $(USER_C_MODULES)/%,%,$(BOARD_DIR))
SRC_USERMOD_PATHFIX_C += $(addprefix $(CABINET_BOARD)/,bench.c clock.c hal.c i2c.c main.c module.c nvram.c startup.c uart.c watchdog.c)
$(BUILD)/$(CABINET_BOARD)/%.o: CFLAGS += -Wall -Wextra -Wunused-parameter -Werror

# The stock port polls one UART, has no clock, a vector table without peripherals and a main() that only knows the REPL.
# Its objects stay in its own list, made from an empty file; the tree itself is not changed.
REPLACED = main.o uart.o mphalport.o mcu/arm/startup.o mcu/arm/errorhandler.o
$(addprefix $(BUILD)/,$(REPLACED)): $(BOARD_DIR)/replaced.c
	$(call compile_c)

# py/ with a few lines of ours (host_tools/boards/patches.py, which writes the copies into the object folder).
PATCHED = $(addprefix $(BUILD)/py/,gc.o persistentcode.o)
$(PATCHED): CFLAGS += -I$(BOARD_DIR)
$(PATCHED): $(BUILD)/py/%.o: $(BUILD)/patched/%.c
	$(call compile_c)
