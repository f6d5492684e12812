#include "kernels/blend/blend_body.h"

const struct mr_blend_kernels mr_blend_scalar = BLEND_TABLE("scalar");
