/** Programs on this machine are asked for their models, and none of them holds up the others. */

import { describe, expect, it, onTestFinished } from 'vitest'

import { systemEnv } from '../../../../cluster/index.ts'
import { openEgress } from '../../../../src/egress/index.ts'
import { localModelsAt } from '../../../../src/platform/evaluate/models/local-models.ts'
import { openReceiver } from '../../../support/receiver.ts'
import type { Answer } from '../../../support/receiver.ts'

const env = systemEnv({ level: 'silent' })

async function programWith(answer: Answer): Promise<string> {
  const receiver = await openReceiver(answer)
  onTestFinished(() => receiver.close())
  return new URL(receiver.url).origin
}

async function found(origins: readonly string[], allowed = ['127.0.0.0/8']) {
  const egress = openEgress({ env, version: '0', allowed })
  onTestFinished(() => egress.close())
  return await localModelsAt(origins, egress).list('local')
}

const says = (body: unknown, status = 200): Answer => (_, response) => {
  response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body))
}

describe('the models of this machine', () => {
  it('are those that a program lists, without those that cannot chat', async () => {
    const origin = await programWith(
      says({
        data: [{ id: 'qwen3:8b' }, { id: 'nomic-embed' }, {}, { id: 7 }, { id: '' }, {
          id: 'x'.repeat(501),
        }, null],
      }),
    )
    const { host } = new URL(origin)
    expect(await found([origin]))
      .toEqual([{ name: host, base_url: `${origin}/v1`, models: ['qwen3:8b'] }])
  })

  it.each([
    ['is no JSON', says('<html>')],
    ['lists nothing', says({ data: [] })],
    ['is another program', says({ data: [{ id: 'a' }] }, 404)],
    ['has another form', says([1])],
    ['is longer than is read', says({ data: [{ id: 'a' }], rest: 'x'.repeat(1_100_000) })],
  ])('are none where the answer %s', async (_what, answer) => {
    const other = await programWith(says({ data: [{ id: 'b' }] }))
    const all = await found([await programWith(answer), other])
    expect(all.map(({ base_url: url }) => url)).toEqual([`${other}/v1`])
  })

  it('are none where no program runs, or where this machine may not be called', async () => {
    const origin = await programWith(says({ data: [{ id: 'a' }] }))
    expect(await found(['http://127.0.0.1:1'])).toEqual([])
    expect(await found([origin], [])).toEqual([])
  })

  it('do not wait for a program that hangs', async () => {
    const hanging = await programWith(() => {})
    const other = await programWith(says({ data: [{ id: 'b' }] }))
    expect((await found([hanging, other])).flatMap(({ models }) => models)).toEqual(['b'])
  })
})
