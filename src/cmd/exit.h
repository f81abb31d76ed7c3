/* exit.h - exit statuses of the tool. */
#ifndef RSC_CMD_EXIT_H
#define RSC_CMD_EXIT_H

enum {
    RSC_EXIT_OK = 0,
    RSC_EXIT_ERROR = 1,
    RSC_EXIT_USAGE = 2,
    RSC_EXIT_REGRESSION = 3,
    RSC_EXIT_NOT_EXECUTABLE = 126, /* of the program to watch, as shells have it */
    RSC_EXIT_NOT_FOUND = 127,
};

#endif
