package page

import (
	"encoding/json"
)

// Screen is what the page shows, whole. Exactly one of the pointers is set; its
// JSON name is the screen's. Fields are described in docs/page.md.
type Screen struct {
	Wait *Wait

	Title    *Title
	Hosting  *Hosting
	Joining  *Joining
	Starting *Starting
	Forecast *Forecast
	Select   *Select
	Fight    *Fight
	Result   *Result
	Train    *TrainScreen
	Replays  *Replays
	Theatre  *Theatre
	Desync   *Desync
	Doctor   *Doctor
	Error    *ErrorScreen
	Bye      *Bye
}

// Wait is why nothing happens, for how long it has and may.
type Wait struct {
	Reason  string `json:"reason"`
	Since   int64  `json:"since_ms"`
	Limit   int64  `json:"limit_ms"`
	Cancels bool   `json:"cancel"`
}

// Person is a player as shown. Strings are cleaned.
type Person struct {
	Name   string `json:"name"`
	Region string `json:"region"`
	Build  string `json:"build"`
	Bot    bool   `json:"bot"`
}

// Title is the first screen.
type Title struct {
	Version  string `json:"version"`
	Relay    string `json:"relay"`
	Name     string `json:"name"`
	Sentence string `json:"sentence"`
	Join     bool   `json:"join"`
}

// Hosting shows the code.
type Hosting struct {
	Code    string `json:"code,omitempty"`
	Link    string `json:"link,omitempty"`
	Command string `json:"command,omitempty"`
	QR      *QR    `json:"qr,omitempty"`
	QRText  string `json:"qr_text,omitempty"`
	Guesses int    `json:"guesses"`
	Note    string `json:"note"`
}

// Joining is the way into somebody's lobby.
type Joining struct {
	Code  string `json:"code"`
	Stage string `json:"stage"`
}

// Starting is shown until the first frame.
type Starting struct {
	Sentence string `json:"sentence"`
}

// Forecast is what the connection promises.
type Forecast struct {
	Opponent Person   `json:"opponent"`
	Side     int      `json:"side"` // of this player
	You      string   `json:"you"`
	They     string   `json:"they"`
	Probe    float64  `json:"probe"`
	Ping     *float64 `json:"ping_ms"`
	Jitter   *float64 `json:"jitter_ms"`
	Loss     *float64 `json:"loss_pct"`
	Path     string   `json:"path"`
	Grade    string   `json:"grade"`
	Mode     string   `json:"mode"`
	Delay    int      `json:"delay"`
	Depth    [2]int   `json:"depth"`
	Sentence string   `json:"sentence"`
	Warnings []string `json:"warnings"`
}

// Picked is a player's choice on the select screen.
type Picked struct {
	Team  []string `json:"team"`
	Ready bool     `json:"ready"`
}

// Select is the choice of fighters.
type Select struct {
	Kind     string  `json:"kind"`
	Side     int     `json:"side"`
	Ruleset  string  `json:"ruleset"`
	Format   string  `json:"format"`
	Rounds   int     `json:"rounds"`
	Size     int     `json:"size"`
	Opponent *Person `json:"opponent"`
	You      Picked  `json:"you"`
	They     struct {
		Ready bool `json:"ready"`
	} `json:"they"`
	Match int `json:"match"`
}

// Fight is the frame around the snapshots.
type Fight struct {
	Kind    string      `json:"kind"`
	Side    int         `json:"side"`
	Players [2]Person   `json:"players"`
	Teams   [2][]string `json:"teams"`
	Ruleset string      `json:"ruleset"`
	Format  string      `json:"format"`
	Rounds  int         `json:"rounds"`
	Match   int         `json:"match"`
	Mode    string      `json:"mode"`
	Delay   int         `json:"delay"`
	Offer   string      `json:"offer"` // the mode that is offered, empty for none
	Music   [2]uint8    `json:"music"` // of each team
}

// Result is how a match ended.
type Result struct {
	Winner     int         `json:"winner"`
	Won        bool        `json:"won"`
	Side       int         `json:"side"`
	Players    [2]Person   `json:"players"`
	Teams      [2][]string `json:"teams"`
	Rounds     [2]int      `json:"rounds"`
	Score      [2]int      `json:"score"`
	Sentence   string      `json:"sentence"`
	Hash       string      `json:"hash"`
	Replay     string      `json:"replay"`
	Music      [2]uint8    `json:"music"`
	You        string      `json:"you"`
	They       string      `json:"they"`
	CanRematch bool        `json:"can_rematch"`
}

// TrainOptions are the options of the training room.
type TrainOptions struct {
	Dummy    string  `json:"dummy"`
	Slot     int     `json:"slot"`
	Boxes    bool    `json:"boxes"`
	Refill   bool    `json:"refill"`
	Latency  int     `json:"latency_ms"`
	Jitter   int     `json:"jitter_ms"`
	Loss     int     `json:"loss_pct"`
	Rollback int     `json:"rollback"`
	Delay    int     `json:"delay"`
	Side     int     `json:"side"`
	Paused   bool    `json:"paused"`
	Speed    float64 `json:"speed"`
}

// LastMove is the newest combo in the training room.
type LastMove struct {
	Move   string `json:"move"`
	Damage int    `json:"damage"`
	Hits   int    `json:"hits"`
}

// TrainScreen is the frame around the training room.
type TrainScreen struct {
	Options   TrainOptions `json:"options"`
	Slots     [3]int       `json:"slots"`
	Recording bool         `json:"recording"`
	Playing   bool         `json:"playing"`
	Advantage *int         `json:"advantage"`
	Last      LastMove     `json:"last"`
	Music     [2]uint8     `json:"music"`
	Teams     [2][]string  `json:"teams"`
	Ruleset   string       `json:"ruleset"`
	Format    string       `json:"format"`
}

// ReplayEntry is a line of the list of replays.
type ReplayEntry struct {
	ID       string      `json:"id"`
	When     string      `json:"when"`
	Frames   int         `json:"frames"`
	Teams    [2][]string `json:"teams"`
	Ruleset  string      `json:"ruleset"`
	Format   string      `json:"format"`
	Build    string      `json:"build"`
	Sentence string      `json:"sentence"`
}

// DesyncEntry is a line of the list of desyncs.
type DesyncEntry struct {
	ID   string `json:"id"`
	When string `json:"when"`
	Code string `json:"code"`
}

// Replays is the list.
type Replays struct {
	List    []ReplayEntry `json:"list"`
	Desyncs []DesyncEntry `json:"desyncs"`
}

// Theatre is the frame around a replay.
type Theatre struct {
	ID       string      `json:"id"`
	Frame    int         `json:"frame"`
	Frames   int         `json:"frames"`
	Playing  bool        `json:"playing"`
	Speed    float64     `json:"speed"`
	Boxes    bool        `json:"boxes"`
	Verified string      `json:"verified"`
	Sentence string      `json:"sentence"`
	Teams    [2][]string `json:"teams"`
	Ruleset  string      `json:"ruleset"`
	Format   string      `json:"format"`
	Rounds   int         `json:"rounds"`
	Marks    []int       `json:"marks"`
	Music    [2]uint8    `json:"music"`
}

// Difference is a value that was not the same on both sides.
type Difference struct {
	Name  string `json:"name"`
	Host  string `json:"host"`
	Guest string `json:"guest"`
}

// Desync is the frame around the states of a desync.
type Desync struct {
	ID          string       `json:"id"`
	Code        string       `json:"code"`
	Wrote       string       `json:"wrote"` // host or guest
	Frame       int          `json:"frame"`
	Agreed      int          `json:"agreed"`
	Ranked      bool         `json:"ranked"`
	Builds      [2]string    `json:"builds"`
	Hashes      [2]string    `json:"hashes"`
	Verdict     string       `json:"verdict"`
	Exhibits    []string     `json:"exhibits"`
	Shown       string       `json:"shown"`
	Boxes       bool         `json:"boxes"`
	Ranges      [][2]int     `json:"ranges"`
	Differences []Difference `json:"differences"`
	Words       [2][]uint16  `json:"words"`
	Teams       [2][]string  `json:"teams"`
	Ruleset     string       `json:"ruleset"`
	Format      string       `json:"format"`
}

// Doctor is what was found out about the network of this machine, so far.
type Doctor struct {
	Relay     string    `json:"relay"` // the one that is asked, empty for none
	Running   bool      `json:"running"`
	Checks    []string  `json:"checks"` // the IDs of all findings there will be
	Findings  []Finding `json:"findings"`
	Addresses bool      `json:"addresses"` // are they shown?
	Severity  string    `json:"severity"`  // the worst, when all is done
	Verdict   string    `json:"verdict"`
	Text      string    `json:"text"` // everything shown, for a friend who helps
}

// Finding is one thing that was looked at.
type Finding struct {
	ID        string   `json:"id"`
	Severity  string   `json:"severity"` // ok, note, unknown, warning or error
	Summary   string   `json:"summary"`
	Meaning   string   `json:"meaning"`
	Advice    string   `json:"advice"`
	Addresses []string `json:"addresses"` // empty unless they were asked for
}

// ErrorScreen says what happened and what to do.
type ErrorScreen struct {
	Sentence string `json:"sentence"`
	Code     int    `json:"code"`
	Retry    string `json:"retry"`
}

// Bye is the last screen.
type Bye struct {
	Sentence string `json:"sentence"`
}

// Part is the screen's name and what is on it.
func (s *Screen) Part() (name string, part any) {
	switch {
	case s.Title != nil:
		return "title", s.Title
	case s.Hosting != nil:
		return "hosting", s.Hosting
	case s.Joining != nil:
		return "joining", s.Joining
	case s.Starting != nil:
		return "starting", s.Starting
	case s.Forecast != nil:
		return "forecast", s.Forecast
	case s.Select != nil:
		return "select", s.Select
	case s.Fight != nil:
		return "fight", s.Fight
	case s.Result != nil:
		return "result", s.Result
	case s.Train != nil:
		return "train", s.Train
	case s.Replays != nil:
		return "replays", s.Replays
	case s.Theatre != nil:
		return "theatre", s.Theatre
	case s.Desync != nil:
		return "desync", s.Desync
	case s.Doctor != nil:
		return "doctor", s.Doctor
	case s.Error != nil:
		return "error", s.Error
	case s.Bye != nil:
		return "bye", s.Bye
	}
	return "", nil
}

// append encodes the screen as message SCREEN.
func (s *Screen) append(seq uint64) ([]byte, error) {
	name, part := s.Part()
	return appendJSON(outScreen, map[string]any{"screen": name, "seq": seq, "wait": s.Wait, name: part})
}

func appendJSON(t byte, v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return append([]byte{t}, b...), nil
}

// Net are the figures of the connection; see docs/page.md.
type Net struct {
	Frame       int32   `json:"frame"`
	Ping        float64 `json:"ping_ms"`
	Jitter      float64 `json:"jitter_ms"`
	Loss        float64 `json:"loss_pct"`
	Delay       int     `json:"delay"`
	Rollback    int     `json:"rollback"`
	RollbackMax int     `json:"rollback_max"`
	Stalls      int64   `json:"stalls"`
	Path        string  `json:"path"`
	Why         string  `json:"why"` // no better path; empty for lan and direct
	Offset      int64   `json:"offset_us"`
	Advantage   int32   `json:"advantage"`
	Up          int64   `json:"up_bps"`
	Down        int64   `json:"down_bps"`
	FEC         string  `json:"fec"`
	Parity      int64   `json:"parity"`
	Recovered   int64   `json:"recovered"`
	Second      int64   `json:"second"`
	Grade       string  `json:"grade"`
	Mode        string  `json:"mode"`
	Tick        struct {
		P50 int64 `json:"p50"`
		P99 int64 `json:"p99"`
	} `json:"tick_us"`
	Status string    `json:"status"`
	They   *TheirNet `json:"they"`
	Line   string    `json:"line"`
}

// TheirNet is how the connection looks from the other side.
type TheirNet struct {
	Ping   float64 `json:"ping_ms"`
	Jitter float64 `json:"jitter_ms"`
	Loss   float64 `json:"loss_pct"`
	Stalls int64   `json:"stalls"`
}

// Talk is what the two players said to each other since they met.
type Talk struct {
	Lines []ChatLine `json:"lines"` // oldest first, the newest TalkLines
	They  string     `json:"they"`  // here or away
}

// TalkLines is how many lines a Talk has at most.
const TalkLines = 32

// ChatLine is one of them. The text is cleaned.
type ChatLine struct {
	Number int    `json:"n"` // from 1 on
	Side   int    `json:"side"`
	Text   string `json:"text"`
}
