package channel

import "backstep/rollback/wire"

// ID is a channel. Its number is what packets say.
type ID uint8

// The channels.
const (
	RollbackInputs ID = iota
	MatchState
	ChatPresence
	Spectator
	Telemetry
	Lobby
	channels
)

// Row is what the table says about a channel.
type Row struct {
	Name    string
	Profile string // of whoever carries it
	// Socket is the socket it has to itself, empty for a channel that rides as
	// a guest. Inputs alone have one, and no guest can cause a packet on it.
	Socket        string
	Reliable      bool
	MaxHz         int  // messages a second
	Deterministic bool // both sides have the same, in the same order, for the simulation
	ReadOnly      bool // who receives it sends nothing on it
	PreMatch      bool // open while no match is running
	// Priority decides who gets the room of a packet; the least goes first.
	Priority uint8

	MaxMessage int // bytes
	Window     int // messages sent and not yet acknowledged, or waiting; the receiver keeps as many
}

// Fragment is the length of all fragments of a message but the last, in bytes.
// Messages up to this length travel whole.
const Fragment = 256

// maxFragments is how many fragments the longest message of any channel has. On
// the wire there is room for 16.
const maxFragments = 8

var table = [channels]Row{
	RollbackInputs: {Name: "RollbackInputs", Profile: wire.Profile, Socket: wire.Channel, MaxHz: 60, Deterministic: true},
	MatchState:     {Name: "MatchState", Profile: "UE.Iris.MatchState", Reliable: true, MaxHz: 30, Priority: 1, MaxMessage: 2048, Window: 16},
	Lobby:          {Name: "Lobby", Profile: "UE.Iris.Lobby", Reliable: true, MaxHz: 15, PreMatch: true, Priority: 2, MaxMessage: 1024, Window: 16},
	ChatPresence:   {Name: "ChatPresence", Profile: "UE.Iris.ChatPresence", Reliable: true, MaxHz: 10, Priority: 3, MaxMessage: 512, Window: 16},
	Spectator:      {Name: "Spectator", Profile: "UE.Iris.Spectator", MaxHz: 20, ReadOnly: true, Priority: 4, MaxMessage: Fragment, Window: 8},
	Telemetry:      {Name: "Telemetry", Profile: "UE.Iris.RollbackTelemetry", Reliable: true, MaxHz: 5, Priority: 5, MaxMessage: 2048, Window: 8},
}

// byPriority are the channels that ride in sections, the most urgent first.
var byPriority = [...]ID{MatchState, Lobby, ChatPresence, Spectator, Telemetry}

// Table returns the rows of all channels, by number.
func Table() [channels]Row { return table }

// Row returns what the table says about id; the zero Row if there is no such channel.
func (id ID) Row() Row {
	if id >= channels {
		return Row{}
	}
	return table[id]
}

// String is the name in the table.
func (id ID) String() string {
	if id >= channels {
		return "unknown"
	}
	return table[id].Name
}

// guest reports whether id rides in sections.
func (id ID) guest() bool { return id > RollbackInputs && id < channels }

// fragments is how many fragments the longest message of the channel has.
func (r *Row) fragments() int { return (r.MaxMessage + Fragment - 1) / Fragment }
