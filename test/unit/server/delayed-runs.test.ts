/** Delayed runs over a data directory; the same with ten thousand is among the long tests. */

import { it } from 'vitest'

import { expectManyDelayed } from './many-delayed-runs.ts'

it('delayed runs cost no memory, and start when due, also after a restart',
  () => expectManyDelayed(50), 60_000)
