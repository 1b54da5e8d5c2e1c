/** A process that replays holds no secret. */

import { expect, it } from 'vitest'

import { standIns } from '../../../../src/graph/replay/stand-ins.ts'

it('Secrets are stars of their length, and all else stays.', () => {
  const variables = { MODEL_KEY: 'sk-123', DB_PASSWORD: '', MODEL: 'small', BANK: 'pay-4711',
    REGION: 'eu-central' }
  expect(standIns(variables, ['MODEL_KEY', 'MODEL', 'BANK'])).toEqual({ ...variables,
    MODEL_KEY: '******', BANK: '********' })
})
