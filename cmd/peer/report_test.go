package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// contractFields are the fields of the match report, as scripts rely on them: names and types are exact, and what is not here
// is not in it. A type that ends in ? may be null also after a match that went well over a direct path, one that ends in !
// never; the others are null until measured.
const contractFields = `
version:int! build:text! lobby:lookup player:text side:host|join! seed:hex ruleset:ruleset format:1v1|2v2|3v3|trinity data_hash:hex!
path:lan|direct|relay|tunnel path_reason:text path_changes:paths! local_candidate:candidate remote_candidate:candidate
connect_ms:number handshake_ms:number direct_ms:number cipher:text
frames:count! confirmed_frames:count! final_hash:hex hashes_every_600:hashes! end_reason:end!
rollbacks:count resimulated_frames:count depth.mean:number depth.p50:count depth.p99:count depth.max:count
stopped_early:count stalls:count longest_stall:count frozen_frames:count
sync.wait_frames:count sync.mean_offset_us:signed sync.p99_offset_us:int sync.rate_min:number sync.rate_max:number
rtt_ms.p50:number rtt_ms.p99:number jitter_ms:number loss_pct:percent
packets.sent:count packets.received:count packets.lost:count packets.duplicate:count packets.stale:count packets.malformed:count packets.forged:count
bytes.sent:count bytes.received:count inputs_bytes.mean:number inputs_bytes.p99:count
fec.mode:auto|off|xor|rs! fec.parity_sent:count fec.recovered:count fec.unrecoverable:count second_datagrams:count
tick_us.p50:count tick_us.p99:count tick_us.max:count allocs_per_frame:number
quality.grade:good|borderline|poor quality.mode:rollback|hybrid|delay quality.reliability:number quality.wired_hint:bool? quality.ranked_eligible:bool
fairness.input_lateness_ms:signed? fairness.rate_hz:number fairness.opponent_stalls:count
events:events! desyncs:count!`

// addedFields are those that came later.
const addedFields = `messages.sent:count messages.received:count messages.resent:count messages.flooded:count
opponent.rtt_ms:number? opponent.jitter_ms:number? opponent.loss_pct:percent? opponent.stalls:count?`

var (
	hex64    = regexp.MustCompile(`^[0-9a-f]{16}$`)
	lookup   = regexp.MustCompile(`^[2-9B-DF-HJKMNP-RTV-Z]{4}$`)
	ends     = []string{"frames", "match_over", "opponent_left", "timeout", "desync", "protocol_error", "version", "no_path", "interrupted", "error"}
	ways     = []string{"lan", "direct", "relay", "tunnel"}
	rulesets = []string{"sf", "tekken", "soulcalibur", "mk", "ufc", "wwe", "defjam", "tagteam"}
)

// field looks up a dotted name; ok says whether it is there at all.
func field(r map[string]any, name string) (v any, ok bool) {
	head, rest, nested := strings.Cut(name, ".")
	v, ok = r[head]
	if !nested || !ok {
		return v, ok
	}
	inner, ok := v.(map[string]any)
	if !ok {
		return nil, false
	}
	return field(inner, rest)
}

// isOf tells whether a value that is not null has a type of the tables.
func isOf(kind string, v any) bool {
	n, isNumber := v.(float64)
	s, isText := v.(string)
	list, isList := v.([]any)
	switch kind {
	case "number":
		return isNumber && n >= 0
	case "signed":
		return isNumber
	case "percent":
		return isNumber && n >= 0 && n <= 100
	case "count":
		return isNumber && n >= 0 && n == math.Trunc(n)
	case "int":
		return isNumber && n == math.Trunc(n)
	case "bool":
		_, ok := v.(bool)
		return ok
	case "text":
		return isText
	case "hex":
		return hex64.MatchString(s)
	case "lookup":
		return lookup.MatchString(s)
	case "ruleset":
		return slices.Contains(rulesets, s)
	case "candidate": // a kind and no address
		return isText && regexp.MustCompile(`^[a-z0-9 /-]+$`).MatchString(s)
	case "end":
		return slices.Contains(ends, s)
	case "hashes":
		return isList && !slices.ContainsFunc(list, func(e any) bool {
			pair, ok := e.([]any)
			return !ok || len(pair) != 2 || !isOf("count", pair[0]) || math.Mod(pair[0].(float64), 600) != 0 || !isOf("hex", pair[1])
		})
	case "paths":
		return isList && !slices.ContainsFunc(list, func(e any) bool {
			pair, ok := e.([]any)
			if !ok || len(pair) != 2 || !isOf("count", pair[0]) {
				return true
			}
			way, ok := pair[1].(string)
			return !ok || !slices.Contains(ways, way)
		})
	case "events":
		return isList && !slices.ContainsFunc(list, func(e any) bool {
			event, ok := e.(map[string]any)
			return !ok || !slices.Equal(slices.Sorted(maps.Keys(event)), []string{"frame", "kind", "text"}) || !isOf("int", event["frame"]) || !isOf("text", event["kind"]) || !isOf("text", event["text"])
		})
	}
	return isText && strings.Contains(kind, "|") && slices.Contains(strings.Split(kind, "|"), s)
}

// mistakes are what a report has against the contract; measured says that nothing may be null that a good match measures.
func mistakes(r map[string]any, measured bool) (list []string) {
	known := map[string]bool{}
	for _, f := range strings.Fields(contractFields + " " + addedFields) {
		name, kind, _ := strings.Cut(f, ":")
		kind, optional := strings.CutSuffix(kind, "?")
		kind, always := strings.CutSuffix(kind, "!")
		head, _, _ := strings.Cut(name, ".")
		known[name], known[head] = true, true
		v, ok := field(r, name)
		switch {
		case !ok:
			list = append(list, fmt.Sprintf("the report has no %s", name))
		case v == nil && (always || measured && !optional):
			list = append(list, fmt.Sprintf("%s is null", name))
		case v != nil && !isOf(kind, v):
			list = append(list, fmt.Sprintf("%s is %v (%T), not %s", name, v, v, kind))
		}
	}
	for name, v := range r {
		if !known[name] {
			list = append(list, fmt.Sprintf("%s is not in the contract", name))
		}
		inner, _ := v.(map[string]any)
		for below := range inner {
			if !known[name+"."+below] {
				list = append(list, fmt.Sprintf("%s.%s is not in the contract", name, below))
			}
		}
	}
	return list
}

// complete wants a report that keeps the contract.
func complete(t *testing.T, r map[string]any, measured bool) {
	t.Helper()
	for _, m := range mistakes(r, measured) {
		t.Error(m)
	}
}

// The report of a real match keeps the contract, and a report in which any one field is missing, has another name or another
// type does not.
func TestReportKeepsTheContract(t *testing.T) {
	t.Parallel()
	d := startDuel(t, startRelay(t, nil).String(), []string{"--frames", "610", "--name", "x"}, nil, nil)
	d.end(610)
	for _, file := range d.files {
		complete(t, readReport(t, file), true)
	}
	text, err := os.ReadFile(d.files[0])
	if err != nil {
		t.Fatal(err)
	}
	fresh := func() (r map[string]any) {
		if err := json.Unmarshal(text, &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	if events := fresh()["events"]; !isOf("events", []any{map[string]any{"frame": 1.0, "kind": "x", "text": "y"}}) || isOf("events", []any{map[string]any{"frame": 1.0, "kind": "x"}}) {
		t.Errorf("events %v", events)
	}
	for _, f := range strings.Fields(contractFields) {
		name, _, _ := strings.Cut(f, ":")
		for what, change := range map[string]func(in map[string]any, key string){
			"missing": func(in map[string]any, key string) { delete(in, key) },
			"renamed": func(in map[string]any, key string) { in[key+"s"] = in[key]; delete(in, key) },
			"of another type": func(in map[string]any, key string) {
				in[key] = map[string]any{"value": in[key]}
			},
			"a number for a text, or a text": func(in map[string]any, key string) {
				if _, ok := in[key].(string); ok {
					in[key] = 5.5
				} else {
					in[key] = "5"
				}
			},
		} {
			r := fresh()
			in, key := r, name
			if head, below, nested := strings.Cut(name, "."); nested {
				in, key = r[head].(map[string]any), below
			}
			change(in, key)
			if len(mistakes(r, false)) == 0 {
				t.Errorf("nobody notices that %s is %s", name, what)
			}
		}
	}
}
