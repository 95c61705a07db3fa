/* error.c - names of errors. */
#include "cab_core.h"

const char *cab_error_name(cab_error_t error)
{
    static const char *const names[CAB_ERRORS] = {
        [CAB_OK] = "ok",
        [CAB_ERR_ARGUMENT] = "argument",
        [CAB_ERR_PACK_LENGTH] = "pack_length",
        [CAB_ERR_PACK_MAGIC] = "pack_magic",
        [CAB_ERR_PACK_VERSION] = "pack_version",
        [CAB_ERR_PACK_HASH] = "pack_hash",
        [CAB_ERR_PACK_RESERVED] = "pack_reserved",
        [CAB_ERR_PACK_NAME] = "pack_name",
        [CAB_ERR_PACK_SECTIONS] = "pack_sections",
        [CAB_ERR_PACK_TAG] = "pack_tag",
        [CAB_ERR_PACK_SIZE] = "pack_size",
        [CAB_ERR_PACK_GAME] = "pack_game",
        [CAB_ERR_PACK_BETS] = "pack_bets",
        [CAB_ERR_PACK_TEXT] = "pack_text",
        [CAB_ERR_PACK_SYMBOL] = "pack_symbol",
        [CAB_ERR_PACK_WILD] = "pack_wild",
        [CAB_ERR_PACK_LINE] = "pack_line",
        [CAB_ERR_PACK_STRIP] = "pack_strip",
        [CAB_ERR_PACK_MODE] = "pack_mode",
        [CAB_ERR_PACK_EVALUATION] = "pack_evaluation",
        [CAB_ERR_PACK_FEATURE] = "pack_feature",
        [CAB_ERR_PACK_OPTION] = "pack_option",
        [CAB_ERR_PACK_AWARD] = "pack_award",
        [CAB_ERR_MODE] = "mode",
        [CAB_ERR_UNIT] = "unit",
        [CAB_ERR_CHOICE_DUE] = "choice_due",
        [CAB_ERR_NO_CHOICE] = "no_choice",
        [CAB_ERR_OPTION] = "option",
        [CAB_ERR_ROUND_OVER] = "round_over",
        [CAB_ERR_RANDOM] = "random",
        [CAB_ERR_STATE_LENGTH] = "state_length",
        [CAB_ERR_STATE_VERSION] = "state_version",
        [CAB_ERR_STATE_CRC] = "state_crc",
        [CAB_ERR_STATE_PACK] = "state_pack",
        [CAB_ERR_STATE_VALUE] = "state_value",
        [CAB_ERR_OVERFLOW] = "overflow",
    };
    return (unsigned)error < CAB_ERRORS ? names[error] : "unknown";
}
