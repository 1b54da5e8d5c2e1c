/** A trace collector that is unreachable for long does not fill the log. */

import { diag } from '@opentelemetry/api'
import { expect, it } from 'vitest'

import { startTracing } from '../../../src/server/tracing.ts'
import { virtualEnv } from '../../support/env.ts'

it('Failures to send spans are logged at most every ten minutes.', () => {
  const env = virtualEnv()
  startTracing({ ratio: 1, version: '0', instance: 'i', env })
  for (let batch = 1; batch <= 900; batch++) {
    diag.error(`batch ${batch} cannot be sent`)
    env.advance(1_000)
  }
  expect(env.lines.map(({ details }) => details['reason']))
    .toEqual(['batch 1 cannot be sent', 'batch 601 cannot be sent'])
})
