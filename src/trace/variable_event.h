/*
 * variable_event.h - an event that is made inside the tool and that no writer puts into a trace: a large variable of a
 * file that a MAP event before it mapped. a: its start, b: bytes. collect/symbols/variable_events.h adds these events to
 * batches.
 */
#ifndef RSC_TRACE_VARIABLE_EVENT_H
#define RSC_TRACE_VARIABLE_EVENT_H

#define RSC_EVENT_VARIABLE 0x1000u

#endif
