/** Ten thousand delayed runs on sleeping threads. */

import { it } from 'vitest'

import { expectManyDelayed } from './many-delayed-runs.ts'

it(
  'ten thousand delayed runs cost no memory, and start when due, also after a restart',
  () => expectManyDelayed(10_000),
  300_000,
)
