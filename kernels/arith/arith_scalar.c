#include "kernels/arith/arith_body.h"

const struct mr_arith_kernels mr_arith_scalar = ARITH_TABLE("scalar");
