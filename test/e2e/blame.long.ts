/** A run that ends the server by the memory it takes: only that run loses by it. */

import { it } from 'vitest'
import { useGates } from '../support/gate.ts'
import { onlyTheKillerLoses } from './blame/killer.ts'

const gate = useGates()

it('A run whose one object is beyond all limits ends when its own process is full.',
  () => onlyTheKillerLoses({ graph: 'grow', kills: 2, error: 'OutOfMemory' }, gate))
