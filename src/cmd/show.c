#include "cmd/cmd.h"
static int run(struct invocation *inv)
{
	(void)inv;
	return 0;
}
const struct verb verb_show = {.name = "show", .args = "[NAME|FILE]", .help = "x", .run = run};
