/** A process that replays holds no secret. */

import { expect, it } from 'vitest'

import { standIns } from '../../../../src/graph/replay/stand-ins.ts'

it('Secrets are stars of their length, and all else stays.', () => {
  expect(standIns({ MODEL_KEY: 'sk-123', DB_PASSWORD: '', MODEL: 'small' }))
    .toEqual({ MODEL_KEY: '******', DB_PASSWORD: '', MODEL: 'small' })
})
