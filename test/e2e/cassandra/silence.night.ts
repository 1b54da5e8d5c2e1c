/** A start waits for Cassandra, whichever question it does not answer yet. */

import { afterAll } from 'vitest'
import { startCassandra } from '../../../scripts/cassandra/cluster.ts'
import { whatIsMissing } from '../../../scripts/cassandra/library.ts'
import { isNight } from '../../support/repeats.ts'
import { describeSilence } from './silence.ts'

const cluster = await whatIsMissing() === undefined
  ? await startCassandra({ nodes: 1, firstAddress: '127.0.0.57', light: true })
  : undefined
afterAll(() => cluster?.close())

describeSilence(cluster, isNight
  ? ['schema_version', 'setting ', 'node_session', 'member_beat', 'shard_owner']
  : ['schema_version'])
