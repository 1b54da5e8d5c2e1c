/**
 * By night: timed tests with many processes. They are in one file because files run in parallel,
 * and two of these on a small machine would disturb each other.
 */

import { whatIsMissing } from '../../scripts/cassandra/library.ts'
import { cassandraForTests } from '../support/cassandra.ts'
import { describeLostNodes } from './cassandra/lost-nodes.ts'
import { describeLimitsAtLength } from './limits-at-length.ts'

describeLostNodes(await whatIsMissing())
describeLimitsAtLength(await cassandraForTests())
