package rpc

import "time"

// pollInterval is how often the server looks whether its client's process still lives.
const pollInterval = time.Second

// watchClient ends the server when process pid does. A process that cannot be seen from here at all, such as one outside
// of a container, is not watched. Where the client is the parent, a stopped server ends with it too, on Linux.
func (s *Server) watchClient(pid int) {
	if !ProcessLives(pid) {
		s.log.Info("the client's process is not visible from here and is not watched", "pid", pid)
		return
	}
	wakeWith(pid)
	go func() {
		tick := time.NewTicker(pollInterval)
		defer tick.Stop()
		for {
			select {
			case <-s.stream.Done():
				return
			case <-tick.C:
				if !ProcessLives(pid) {
					s.log.Info("the client's process ended", "pid", pid)
					s.stop()
					return
				}
			}
		}
	}()
}
