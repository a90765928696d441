package bot

// skill says how well a player plays. Shares are in percent.
type skill struct {
	name     string
	delay    int // frames until it reacts to what it sees
	guard    int // attacks it blocks in the stance they ask for
	guess    int // attacks it only guards low, whatever they are
	antiAir  int // jumps it answers
	through  int // shots it goes over or through
	punish   int // openings it takes
	combo    int // hits it follows up
	pressure int // blocked hits it follows up
	tech     int // throws it breaks and falls it rolls out of
	super    int // combos it ends in a super when it has the meter
	wait     int // plans that are waiting
	far      int // of coming closer: with a move that carries or flies
	rise     int // times it gets up other than behind its guard
	mash     int // frames on which it presses when held down
	team     int // chances for tag play it takes
}

// A person needs some 200 ms (12 frames) for what is expected and 300 to 500 ms for what is not.
var skills = [...]skill{
	{name: "easy", delay: 30, guard: 15, guess: 20, antiAir: 8, through: 8, punish: 15, combo: 15, pressure: 5, tech: 10, super: 20, wait: 40, far: 12, rise: 40, mash: 12, team: 10},
	{name: "medium", delay: 20, guard: 40, guess: 25, antiAir: 30, through: 25, punish: 45, combo: 50, pressure: 20, tech: 30, super: 50, wait: 22, far: 15, rise: 30, mash: 20, team: 30},
	{name: "hard", delay: 13, guard: 68, guess: 20, antiAir: 65, through: 50, punish: 80, combo: 85, pressure: 35, tech: 55, super: 80, wait: 12, far: 18, rise: 20, mash: 30, team: 60},
}
