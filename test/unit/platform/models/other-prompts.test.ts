/** Prompts of other tenants: whoever asks with one chooses the model, and not its owner. */

import { expect, it } from 'vitest'

import { templateOf } from '../../../../src/platform/evaluate/experiments/model-question.ts'
import type { Platform } from '../../../../src/platform/index.ts'
import { platformPort } from '../../../../src/platform/evaluate/rules/platform-port.ts'

const lc = (name: string, kwargs: object) => ({ lc: 1, type: 'constructor', id: [name], kwargs })
const manifest = lc('RunnableSequence', {
  first: lc('PromptTemplate', { template: 'Hi' }),
  last: lc('ChatOpenAI', { model: 'm', base_url: 'https://evil.example/v1' }),
})
const own = { dialect: 'openai', url: 'https://own.example', model: 'm', secret: null,
  parameters: {} } as const

const sources = (isOwn: boolean) => ({
  prompts: { manifest: async () => ({ isOwn, manifest: Buffer.from(JSON.stringify(manifest)) }) },
  playgroundSettings: { defaultModel: async () => own },
})

it.each([[true, 'https://evil.example/v1'], [false, own.url]])(
  'The model behind a prompt is asked if that is the own one: %s',
  async (isOwn, url) => {
    const parts = sources(isOwn) as unknown as Pick<Platform, 'prompts' | 'playgroundSettings'>
    const { call, render } = await templateOf(parts, 'acme', { prompt: { name: 'p' } })
    expect(call.endpoint.url).toBe(url)
    expect(render({})).toEqual([{ role: 'user', content: 'Hi' }])
    const { prompts } = platformPort(
      sources(isOwn) as unknown as Parameters<typeof platformPort>[0],
    )
    const read = await prompts!.manifest('acme', 'other/p')
    expect(prompts!.modelOf(read) === null).toBe(!isOwn)
  },
)
