import { title } from './title.js';
import { hosting, joining, starting, forecast } from './meet.js';
import { select } from './select.js';
import { fight } from './fight.js';
import { result, error, bye } from './result.js';
import { train } from './train.js';
import { replays } from './replays.js';
import { theatre } from './theatre.js';
import { doctor } from './doctor.js';
import { desync } from './desync.js';

/** The screens by the name the peer gives them. */
export const screens = { title, hosting, joining, starting, forecast, select, fight, result, train, replays, theatre, desync, doctor, error, bye };
