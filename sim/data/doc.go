// Package data holds what the simulation is fed with: the fighters and their moves, the rules and the hitstop table.
// All of it is text that is embedded in the program, written to be edited by people who do not program, checked in full
// before anything runs, and hashed, so that two players with different data are told so instead of drifting apart.
//
//	roster/NAME.txt                       one fighter: a [fighter] section, then its [move KEY] sections in order of KEY
//	balance/rulesets/NAME.txt             one [ruleset] section, then its [node KIND] sections
//	balance/feel/camera_shake.csv         camera shake by kind of hit, in order of name
//	balance/feel/hitstop_curves.csv       frames of freeze by kind of hit, in order of name
//	balance/feel/timing.csv               other lengths of feel, in order of name
//	balance/tag/*.csv                     the mechanics of tag play, their lengths, who may come in for whom, the music of teams
//	tags/tags.txt                         the gameplay tags, sorted
//
// The text format of rosters and rulesets:
//
//	# a comment, to the end of the line
//	[move 5h]                             a section and what it is about
//	damage = 80                           one value of it; a key stands once unless it is said to repeat
//
// Lengths are centimetres, speeds centimetres a frame, times frames of 1/60 s. Numbers with a point have at most four digits
// after it. Boxes are "x y half-width half-height": x is forward of the fighter's feet, y is up from the ground. Frames of a
// move count from 1; "5-7" is a range, both ends included. Every number has a least and a greatest value; a value outside,
// a missing, unknown or repeated key, a section out of order and boxes outside the active frames are refused with file,
// line and reason.
package data

import "errors"

// ErrInvalid wraps every complaint about a data file. The text around it gives file, line, section and reason.
var ErrInvalid = errors.New("data file refused")
