package bot

// skill says how well a player plays. Shares are in percent.
type skill struct {
	name     string
	delay    int // frames until it reacts to what it sees
	guard    int // attacks it blocks in the stance they ask for
	guess    int // attacks it only guards low, whatever they are
	antiAir  int // jumps it answers
	punish   int // openings it takes
	combo    int // hits it follows up
	pressure int // blocked hits it follows up
	tech     int // throws it breaks
	super    int // combos it ends in a super when it has the meter
	wait     int // plans that are waiting
}

// A person needs some 200 ms (12 frames) for what is expected and 300 to 500 ms for what is not.
var skills = [...]skill{
	{name: "easy", delay: 30, guard: 15, guess: 20, antiAir: 8, punish: 15, combo: 15, pressure: 5, tech: 10, super: 20, wait: 40},
	{name: "medium", delay: 20, guard: 40, guess: 25, antiAir: 30, punish: 45, combo: 50, pressure: 20, tech: 30, super: 50, wait: 22},
	{name: "hard", delay: 13, guard: 68, guess: 20, antiAir: 65, punish: 80, combo: 85, pressure: 35, tech: 55, super: 80, wait: 12},
}
