/** What members ask each other in a roll-out, over real connections. */

import { expect, it } from 'vitest'

import { actorKeyText, shardOf } from '../../../../cluster/index.ts'
import type { Member, Owner } from '../../../../cluster/index.ts'
import { serviceKey } from '../../../../cluster/routing/service.ts'
import type { Prepared, PrepareRequest } from '../../../../src/deployment/index.ts'
import { HeddleError } from '../../../../src/errors.ts'
import { deploymentQuestions,
  deploymentWires } from '../../../../src/server/backends/deployment-wires.ts'
import { deploymentsKey, rolloutMembers,
  rolloutServices } from '../../../../src/server/deployments/rollout-service.ts'
import { memberThat, transportWith } from '../../cluster/transport/grpc/grpc-house.ts'

const self = { id: 'self', address: 'here:1' }
const options: PrepareRequest = { deployment: 'shop', revision: 'r2', envVersion: 3 }
const ready: Prepared = { kind: 'ready', ms: 7,
  graphs: [{ graphId: 'agent', description: null, stateChannels: ['messages'], plain: true,
    nodes: ['ask'] }] }
const shards = 16

/** What one member answers, and what it was asked. */
function answers(prepared: Prepared | HeddleError = ready) {
  const asked: string[] = []
  return { asked, look: (name: string) => void asked.push(`look ${name}`), serving: {
    prepare: async ({ deployment, revision, envVersion }: PrepareRequest) => {
      asked.push(`prepare ${deployment} ${revision} ${envVersion}`)
      if (prepared instanceof HeddleError) throw prepared
      return prepared
    },
    learn: async (name: string) => void asked.push(`learn ${name}`),
    tally: ({ revision }: PrepareRequest) => {
      asked.push(`tally ${revision}`)
      return { ended: 3, failed: 2, deaths: 1 }
    },
  } }
}

/** Another member that answers on the loopback. */
async function another(parts: ReturnType<typeof answers>,
  kinds = deploymentWires): Promise<Member> {
  const services = rolloutServices(parts)
  const { id, address } = await memberThat({
    ask: async ({ kind }, question) =>
      await services.find(({ name }) => name === kind)!.answer(question),
  }, { id: 'other', kinds })
  return { id, address }
}

function members(own: ReturnType<typeof answers>, view: Member[], owner?: Owner) {
  const transport = transportWith({ kinds: deploymentWires })
  const ownership = { shards, self, changed: () => new Promise<void>(() => {}), learn: () => {},
    doubt: () => {},
    ownerOf: (shard: number) =>
      shard === shardOf(actorKeyText(deploymentsKey), shards) ? owner : undefined }
  return rolloutMembers({ ...own,
    backend: { ownership, status: () => ({ member: self, view, leaving: [], shards: [] }),
      askMember: (member, service, question) =>
        transport.deliver(member, serviceKey(service), question) } })
}

it('reach another member, and this one without a connection', async () => {
  const [own, others] = [answers(), answers()]
  const port = members(own, [self, await another(others)])
  expect(port.live()).toEqual(['self', 'other'])
  for (const member of port.live()) {
    expect(await port.prepare(member, options)).toEqual(ready)
    expect(await port.learn(member, 'shop')).toBeUndefined()
    expect(await port.tally(member, options)).toEqual({ ended: 3, failed: 2, deaths: 1 })
  }
  const asked = ['prepare shop r2 3', 'learn shop', 'tally r2']
  expect(own.asked).toEqual(asked)
  expect(others.asked).toEqual(asked)
})

it('carry a refusal, and an error of a store that is away', async () => {
  const refused: Prepared = { kind: 'refused', reason: 'No.',
    failures: [{ graph_id: 'agent', message: 'x', at: null }] }
  const one = members(answers(), [self, await another(answers(refused))])
  expect(await one.prepare('other', options)).toEqual(refused)
  const away = new HeddleError('unavailable', 'The store is away.')
  const two = members(answers(), [self, await another(answers(away))])
  await expect(two.prepare('other', options)).rejects.toMatchObject({ code: 'unavailable',
    message: 'The store is away.' })
})

it('say so of a member whose program is older', async () => {
  const port = members(answers(), [self, await another(answers(), [])])
  await expect(port.prepare('other', options)).rejects
    .toThrow('It could not answer: it may run an older program')
})

it('ask only a member that knows sets to load other secrets', async () => {
  const secrets = [{ name: 'A', version: 1, updatedAtMs: 0, place: 'P_1' }]
  const [own, others] = [answers(), answers()]
  const port = members(own, [self, await another(others)])
  expect(await port.prepare('self', { ...options, secrets })).toEqual(ready)
  expect(await port.prepare('other', { ...options, secrets })).toEqual(ready)
  // It would load the secrets of now, and call that well.
  const before = deploymentWires.filter(({ name }) => name !== deploymentQuestions.prepareWith)
  const mixed = members(own, [self, await another(answers(), before)])
  await expect(mixed.prepare('other', { ...options, secrets })).rejects
    .toThrow('It could not answer: it may run an older program')
  expect(await mixed.prepare('other', options)).toEqual(ready)
})

it('reject for a member that has left', async () => {
  await expect(members(answers(), [self]).learn('other', 'shop')).rejects
    .toMatchObject({ code: 'unavailable' })
})

it('wake the member that owns the records', async () => {
  const [own, others] = [answers(), answers()]
  const other = await another(others)
  await members(own, [self, other], { member: other, epoch: 1 }).wake('shop')
  await members(own, [self, other], { member: self, epoch: 1 }).wake('shop')
  expect([own.asked, others.asked]).toEqual([['look shop'], ['look shop']])
  await expect(members(own, [self]).wake('shop')).rejects.toMatchObject({ code: 'unavailable' })
})
