/** The warm-up run that a worker makes before its first real one. */

import { afterEach, describe, expect, it, vi } from 'vitest'

import { warmUp } from '../../../../src/graph/pool/warm-up.ts'
import { GraphBench } from '../../../support/graph-bench.ts'
import { echo, said } from '../../../support/small-graphs.ts'

afterEach(() => vi.unstubAllEnvs())

describe('a warm-up', () => {
  it('makes a whole run, and leaves nothing in the log', async () => {
    const bench = new GraphBench(echo)
    expect(await warmUp(bench.bench)).toMatchObject({ status: 'success', error: null })
    expect(bench.log.checkpoints).toEqual([])
    expect((await bench.run({ input: said('a') })).outcome).toMatchObject({ status: 'success' })
  })

  it('is left out if tracing is on', async () => {
    vi.stubEnv('LANGSMITH_TRACING', 'true')
    expect(await warmUp(new GraphBench(echo).bench)).toBeUndefined()
  })
})
