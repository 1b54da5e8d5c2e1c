/** A run that kills the server: it ends with an error, and the run beside it loses nothing. */

import { it } from 'vitest'
import { useGates } from '../support/gate.ts'
import { onlyTheKillerLoses } from './blame/killer.ts'

const gate = useGates()

it('A run that sends SIGKILL to its process ends after three deaths; one beside it succeeds.',
  () => onlyTheKillerLoses({ graph: 'poison', kills: 3, error: 'WorkerCrashed' }, gate))
