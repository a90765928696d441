package probe

import (
	"context"
	"io"
	"net/http"
	"time"

	"backstep/natpunch/clockskew"
)

// clock compares the relay's clock with this machine's, by the date that every HTTP answer carries.
func (p *probe) clock() {
	before := p.Now()
	date, ok := p.date()
	switch ahead := clockskew.Ahead(before, p.Now(), date); {
	case !ok:
		p.report.add("clock", Skip, 0, "The clocks were not compared: the relay does not tell the time.")
	case ahead.Abs() < clockskew.Worth:
		p.report.add("clock", OK, 0, "The clocks of the relay and of this machine agree.")
	default:
		p.report.add("clock", Note, 0, "The relay's clock is %s this machine's. Matches do not depend on that, but the dates in its logs, the month its traffic is counted in "+
			"and the life of its certificate do: let both machines set their clocks by the network (NTP).", clockskew.Sentence(-ahead))
	}
}

// date asks for any page of the relay.
func (p *probe) date() (date time.Time, ok bool) {
	ctx, cancel := context.WithTimeout(p.ctx, p.Wait)
	defer cancel()
	scheme := map[string]string{"ws": "http", "wss": "https"}[p.scheme]
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, scheme+"://"+p.report.Relay+"/", nil)
	if err != nil {
		return date, false
	}
	// Not the client, which would follow a redirect to somebody else's clock.
	resp, err := p.client.Transport.RoundTrip(req)
	if err != nil {
		return date, false
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	date, err = http.ParseTime(resp.Header.Get("Date"))
	return date, err == nil
}
