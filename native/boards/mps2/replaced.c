/* replaced.c - stands in for those files of MicroPython's ports/qemu that this board does itself (mpconfigboard.mk). */

typedef int cabinet_nothing_here_t; /* a C file may not be empty */
