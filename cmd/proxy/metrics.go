package main

import (
	"time"

	"github.com/seed-9236c7ca/preface/logsink"
)

// metrics adds what only the program as a whole knows.
func (v *service) metrics() {
	v.reloads.at.Store(time.Now().Unix())
	c := v.counters
	c.Gauge("preface_config_last_reload_successful", "1 if the configuration was loaded when it was last asked for; 0: an older one is in force.", func() float64 {
		if v.reloads.failed.Load() {
			return 0
		}
		return 1
	})
	c.Gauge("preface_config_last_reload_success_timestamp_seconds", "When the configuration in force was loaded.", func() float64 {
		return float64(v.reloads.at.Load())
	})
	queue := func(of func(logsink.QueueStats) float64) func() float64 {
		return func() float64 { return of(v.queue.Stats()) }
	}
	c.Gauge("preface_log_queue_records", "Records that wait to be written to the header log.", queue(func(s logsink.QueueStats) float64 { return float64(s.Depth) }))
	c.Gauge("preface_log_queue_bytes", "What the waiting records hold, roughly.", queue(func(s logsink.QueueStats) float64 { return float64(s.Bytes) }))
	c.Gauge("preface_log_last_flush_seconds", "How long the last write of the queue took.", queue(func(s logsink.QueueStats) float64 { return s.LastFlush.Seconds() }))
	c.CounterFunc("preface_log_records_written_total", "Records written to the header log through the queue.", queue(func(s logsink.QueueStats) float64 { return float64(s.Flushed) }))
	c.CounterFunc("preface_log_records_dropped_total", "Records that were lost: the queue was full (log.queue), or the log refused them.", queue(func(s logsink.QueueStats) float64 { return float64(s.Dropped) }))
	c.CounterFunc("preface_log_write_errors_total", "Writes of the queue that failed; one that is tried again counts each time.", queue(func(s logsink.QueueStats) float64 { return float64(s.Errors) }))
	c.Gauge("preface_log_up", "1 if the header log answered when it was last asked, which is each second.", func() float64 {
		if v.store.LogAnswers() {
			return 1
		}
		return 0
	})
	loss := func(of func(restored, replaced int64) int64) func() float64 {
		return func() float64 { return float64(of(v.store.Losses())) }
	}
	c.CounterFunc("preface_log_lost_anchors_restored_total", "Anchors that the header log had lost and that were put back from this process's memory. Alert on any.",
		loss(func(restored, _ int64) int64 { return restored }))
	c.CounterFunc("preface_log_lost_anchors_replaced_total", "Anchors that the header log had lost, in whose place another process had frozen another prefix. Alert on any.",
		loss(func(_, replaced int64) int64 { return replaced }))
}
