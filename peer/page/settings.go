package page

import (
	"errors"
	"fmt"
	"regexp"

	"backstep/natpunch/rendezvous"
)

// ErrSettings is wrapped by errors of ParseSettings.
var ErrSettings = errors.New("these settings cannot be used")

const (
	settingsVersion = 1
	maxPads         = 16
	maxBindings     = 4
	maxSettingsFile = 32 << 10
)

// Settings are what the player chose on the page. The peer owns the file.
type Settings struct {
	Version       int                `json:"version"`
	Name          string             `json:"name"`
	Language      string             `json:"language"`
	Volume        Volume             `json:"volume"`
	LargeText     bool               `json:"large_text"`
	Palette       string             `json:"palette"`
	ReducedMotion string             `json:"reduced_motion"`
	HUD           string             `json:"hud"`
	Interpolate   bool               `json:"interpolate"`
	MuteChat      bool               `json:"mute_chat"`
	Shake         int                `json:"shake"`
	Delay         string             `json:"delay"`
	Relay         string             `json:"relay"`
	Keys          [2]Bindings        `json:"keys"`
	Pads          map[string]Binding `json:"pads"`
}

// Volume in per cent.
type Volume struct {
	Master  int `json:"master"`
	Effects int `json:"effects"`
	Music   int `json:"music"`
}

// Bindings and Binding name the keys or pad controls of each button.
type (
	Binding  = map[string][]string
	Bindings = Binding
)

// DefaultSettings are those of a player who chose nothing: WASD with the keys
// under the right hand, and arrows with the number block for a second player.
func DefaultSettings() Settings {
	return Settings{
		Version: settingsVersion, Language: "en", Volume: Volume{80, 80, 50}, Palette: "default", ReducedMotion: "auto", HUD: "basic",
		Interpolate: true, Shake: 100, Delay: "auto",
		Keys: [2]Bindings{
			{"up": {"KeyW", "Space"}, "down": {"KeyS"}, "left": {"KeyA"}, "right": {"KeyD"}, "light": {"KeyU"}, "medium": {"KeyI"}, "heavy": {"KeyO"},
				"special": {"KeyJ"}, "throw": {"KeyK"}, "assist": {"KeyP"}, "stance": {"KeyL"}, "super": {"Semicolon"}},
			{"up": {"ArrowUp"}, "down": {"ArrowDown"}, "left": {"ArrowLeft"}, "right": {"ArrowRight"}, "light": {"Numpad4"}, "medium": {"Numpad5"}, "heavy": {"Numpad6"},
				"special": {"Numpad1"}, "throw": {"Numpad2"}, "assist": {"Numpad7"}, "stance": {"Numpad3"}, "super": {"Numpad8"}},
		},
		Pads: map[string]Binding{},
	}
}

var (
	controlName = regexp.MustCompile(`^([A-Z][A-Za-z0-9]{0,24}|b([0-9]|[12][0-9]|3[01])|a([0-9]|1[0-5])[+-])$`)
	language    = regexp.MustCompile(`^[a-z]{2,3}(-[A-Za-z0-9]{2,8})?$`)
	boundNames  = map[string]bool{"up": true, "down": true, "left": true, "right": true, "light": true, "medium": true, "heavy": true,
		"special": true, "throw": true, "assist": true, "stance": true, "super": true, "menu": true}
)

// ParseSettings reads and checks a settings object.
func ParseSettings(b []byte) (Settings, error) {
	var s Settings
	bad := func(what string) (Settings, error) { return Settings{}, fmt.Errorf("%w: %s", ErrSettings, what) }
	if len(b) > maxSettingsFile {
		return bad("they are larger than 32 KiB")
	}
	if err := strictJSON(b, &s); err != nil {
		return bad(err.Error())
	}
	for _, v := range [...]int{s.Volume.Master, s.Volume.Effects, s.Volume.Music, s.Shake} {
		if v < 0 || v > 100 {
			return bad("volume and shake are 0 to 100")
		}
	}
	switch {
	case s.Version != settingsVersion:
		return bad("they are of another version")
	case s.Name != rendezvous.CleanText(s.Name):
		return bad("the name has characters a name cannot have")
	case !language.MatchString(s.Language):
		return bad("language")
	case !among(s.Palette, "default", "deuteranopia", "protanopia", "tritanopia", "contrast"):
		return bad("palette")
	case !among(s.ReducedMotion, "auto", "on", "off"):
		return bad("reduced_motion")
	case !among(s.HUD, "off", "basic", "full"):
		return bad("hud")
	case !among(s.Delay, "auto", "0", "1", "2", "3"):
		return bad("delay is auto or 0 to 3")
	case len(s.Pads) > maxPads:
		return bad("more than 16 pads")
	}
	if s.Relay != "" {
		if _, err := rendezvous.ParseRelay(s.Relay); err != nil {
			return bad("relay: " + err.Error())
		}
	}
	for _, m := range s.Keys {
		if !validBinding(m) {
			return bad("keys")
		}
	}
	for id, m := range s.Pads {
		if len(id) > 128 || !validBinding(m) {
			return bad("pads")
		}
	}
	if s.Pads == nil {
		s.Pads = map[string]Binding{}
	}
	return s, nil
}

func validBinding(m Binding) bool {
	for name, list := range m {
		if !boundNames[name] || len(list) > maxBindings {
			return false
		}
		for _, c := range list {
			if !controlName.MatchString(c) {
				return false
			}
		}
	}
	return true
}

func among(v string, list ...string) bool {
	for _, l := range list {
		if v == l {
			return true
		}
	}
	return false
}
