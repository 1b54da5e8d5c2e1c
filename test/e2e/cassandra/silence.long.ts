/** A start waits for Cassandra, whichever question it does not answer yet. */

import { describeSilence } from './silence.ts'

describeSilence(['schema_version', 'setting ', 'node_session', 'member_beat'])
