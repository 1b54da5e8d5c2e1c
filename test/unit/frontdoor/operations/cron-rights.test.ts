/** Rights of the runs of a cron: those of the user who has written what they are requested with. */

import { expect, it } from 'vitest'

import { AllowedCrons } from '../../../../src/frontdoor/authorise/crons.ts'
import { userOfCron } from '../../../../src/frontdoor/operations/cron-request.ts'
import { CronOperations } from '../../../../src/frontdoor/operations/crons.ts'
import { CronHouse } from '../../crons/cron-house.ts'

const tenant = 't'
const caller = (identity: string) => ({ tenant, login: {}, user: { identity } }) as never

async function opened(payloadJson: string, userId = '') {
  const house = new CronHouse()
  const { cronId } = await house.create({ payloadJson, userId })
  const operations = new CronOperations(
    { crons: house.crons, env: house.env,
      quotas: { within: (_tenant: string, _counts: object, work: () => unknown) => work() },
      runs: { check: async () => ({}) } } as never,
  )
  const ask = async (_caller: unknown, _event: string, value: object) => ({ value })
  const crons = new AllowedCrons(
    { crons: operations, threads: {}, runs: {}, admitAssistant: async () => {} } as never,
    ask as never,
  )
  const row = () => house.crons.get({ tenant, cronId })
  return { crons, cronId, row }
}

const ofAnn = '{"langgraph_auth_user":{"identity":"ann"},"input":{"a":1}}'

it.each<[string, object]>([['input', { input: { a: 2 } }], ['config', { config: { tags: ['x'] } }],
  ['webhook', { webhook: 'https://a.example' }]])(
    'A user who changes the %s of a cron of another user becomes the user of its runs',
    async (_, body) => {
      const { crons, cronId, row } = await opened(ofAnn, 'ann')
      await crons.patch(caller('ben'), cronId, body)
      const changed = await row()
      expect([userOfCron(changed)?.identity, changed.userId]).toEqual(['ben', 'ben'])
      expect(JSON.parse(changed.payloadJson)).toMatchObject(body)
    },
  )

it('A cron without a user has the rights of the user who changes its input', async () => {
  const { crons, cronId, row } = await opened('{"input":{"a":1}}')
  await crons.patch(caller('ben'), cronId, { input: { a: 2 } })
  expect(userOfCron(await row())?.identity).toBe('ben')
})

it.each<[string, object]>([['schedule', { schedule: '0 * * * *' }], ['state', { enabled: false }]])(
  'A user who changes the %s of a cron leaves the user of its runs',
  async (_, body) => {
    const { crons, cronId, row } = await opened(ofAnn, 'ann')
    await crons.patch(caller('ben'), cronId, body)
    const changed = await row()
    expect([userOfCron(changed)?.identity, changed.userId]).toEqual(['ann', 'ann'])
  },
)
