/** Prompts and models of the playground: manifests as messages, calls as prompts, addresses. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { JsonObject } from '../../../src/studio/api/client.ts'
import { readPlaygroundSearch } from '../../../src/studio/addresses/playground.ts'
import { settingsOf } from '../../../src/studio/playground/models.ts'
import { promptOfSpan } from '../../../src/studio/playground/span-prompt.ts'
import { escaped, formatOf, manifestOf, messagesOf, placesOf, roles, variablesIn,
  variablesOf } from '../../../src/studio/prompts/manifest.ts'
import { messagesOf as rendered } from '../../../src/platform/evaluate/prompts/render/manifest.ts'
import { chatManifest, placeholder } from '../../studio/support/chat-manifest.ts'
import { expectAlways } from '../../support/expect-always.ts'

const message = fc.record({ role: fc.constantFrom(...roles), content: fc.string() })

describe('a manifest', () => {
  it('gives back the messages that it was made of', () => {
    expectAlways(fc.property(fc.array(message), (messages) => {
      expect(messagesOf(manifestOf(messages))).toEqual(messages)
    }))
  })

  it('of escaped words is asked as the words themselves', () => {
    expectAlways(fc.property(fc.array(message), (messages) => {
      const manifest = manifestOf(
        messages.map(({ role, content }) => ({ role, content: escaped(content) })),
      )
      expect(rendered(manifest, {})).toEqual(messages)
    }))
  })

  it('keeps the model behind it, and its format', () => {
    const last = { lc: 1, type: 'constructor', id: ['ChatOpenAI'], kwargs: { model: 'm' } }
    const sequence = { lc: 1, type: 'constructor', id: ['RunnableSequence'],
      kwargs: { first: chatManifest('Be kind.', 'Say {what}.'), middle: [], last } }
    const made = manifestOf([{ role: 'user', content: 'Sing {what}.' }], sequence)
    expect(made).toMatchObject({ kwargs: { last, middle: [], first: {
      kwargs: { input_variables: ['what'] },
    } } })
    expect(messagesOf(made)).toEqual([{ role: 'user', content: 'Sing {what}.' }])
    const mustache = { id: ['ChatPromptTemplate'],
      kwargs: { template_format: 'mustache', messages: [] } }
    expect(formatOf(manifestOf([], mustache))).toBe('mustache')
    expect(variablesIn(['{{a.b}} {{#c}}{d}{{/c}}'], 'mustache')).toEqual(['a', 'c'])
    expect(variablesIn(['{a} {{b}} {a}'], 'f-string')).toEqual(['a'])
  })

  it('with places cannot be edited, and says what it needs', () => {
    const manifest = chatManifest('Be kind.', 'Hi', [placeholder('history')])
    expect(messagesOf(manifest)).toBeUndefined()
    expect(
      variablesOf({ ...manifest,
        kwargs: { ...manifest.kwargs, input_variables: ['a', 'history'] } }),
    ).toEqual(['a', 'history'])
    expect(placesOf(manifest)).toEqual(['history'])
    for (const other of [null, {}, { kwargs: 1 }, [], 'x']) {
      expect([messagesOf(other), variablesOf(other)]).toEqual([undefined, []])
    }
  })
})

describe('a call of a model', () => {
  const inputs: JsonObject = {
    messages: [{ role: 'user', content: 'Give {"a": 1}' }, { role: 'assistant', content: '',
      tool_calls: [{ name: 'f', args: {} }] }, { role: 'tool', content: 'x' }],
  }

  it('is a prompt whose braces mean themselves', () => {
    expect(
      promptOfSpan({ inputs,
        metadata: { ls_provider: 'anthropic', ls_model_name: 'm', ls_temperature: 0 } }),
    ).toEqual({
      messages: [{ role: 'user', content: 'Give {{"a": 1}}' }],
      leftOut: 2,
      model: { dialect: 'anthropic', base_url: 'https://api.anthropic.com', model: 'm',
        secret: 'ANTHROPIC_API_KEY', temperature: 0 },
    })
    expect(
      promptOfSpan({ inputs, metadata: { ls_provider: 'bedrock', ls_model_name: 'm' } })?.model,
    )
      .toBeUndefined()
    expect(promptOfSpan({ inputs: { a: 1 }, metadata: null })).toBeUndefined()
  })
})

describe('the models of an address', () => {
  const endpoint = { dialect: 'openai', base_url: 'https://x/v1', model: 'm', secret: 'KEY',
    temperature: 0, max_tokens: 5 }

  it('are read back, four at most, and nothing else is', () => {
    const models = ['default', { saved: 'small' }, endpoint]
    expect(readPlaygroundSearch({ models }).models).toEqual(models)
    expect(readPlaygroundSearch({ models: [...models, ...models] }).models).toHaveLength(4)
    const odd = [{ ...endpoint, value: 'sk-1', secret: 7, temperature: 'hot' }, { dialect: 'x' }, 7,
      null]
    expect(readPlaygroundSearch({ models: odd }).models).toEqual([{ dialect: 'openai',
      base_url: 'https://x/v1', model: 'm', max_tokens: 5 }])
    for (const none of [undefined, 'x', [], [7]]) {
      expect(readPlaygroundSearch({ models: none }).models).toBeUndefined()
    }
  })

  it('are sent as they are kept, and not at all if they are gone', () => {
    const kept = { id: '1', name: 'small', is_default: true, settings: endpoint }
    expect(settingsOf('default', [kept])).toBeUndefined()
    expect(settingsOf({ saved: 'small' }, [kept])).toBe(endpoint)
    expect(() => settingsOf({ saved: 'gone' }, [kept])).toThrow('There is no model gone')
  })
})
