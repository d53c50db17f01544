// The system's own functions that interposed.cpp replaces.
#pragma once

#include <pthread.h>

#include <ctime>

namespace rowlock::simulator {

// Returns what the kernel returns: an error is -errno.
long native_syscall(long number, long a, long b, long c, long d, long e, long f) noexcept;
int native_create(pthread_t* made, const pthread_attr_t* how, void* (*body)(void*), void* argument);
int native_join(pthread_t whom, void** result);

// The machine's own clock, for the program that runs the seeds, outside of any run.
double seconds_of_this_machine();

}  // namespace rowlock::simulator
