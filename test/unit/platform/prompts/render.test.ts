/** Prompts say what LangChain's own library says: on random templates, values and messages. */

import { AIMessage, HumanMessage } from '@langchain/core/messages'
import type { BaseMessage } from '@langchain/core/messages'
import { ChatPromptTemplate, PromptTemplate, StructuredPrompt } from '@langchain/core/prompts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { HeddleError } from '../../../../src/errors.ts'
import { messagesOf, modelOf, schemaOf, variablesOf } from '../../../../src/platform/index.ts'
import { expectAlways } from '../../../support/expect-always.ts'

const names = ['a', 'b', 'item', 'list', 'deep']
const name = fc.constantFrom(...names)
const text = fc.string({ unit: fc.constantFrom(...'xyz "\'\n\t<&\\é🙂'), maxLength: 6 })
const formats = fc.constantFrom('f-string' as const, 'mustache' as const)

const fString = fc.array(
  fc.oneof(text, name.map((each) => `{${each}}`), fc.constantFrom('{{', '}}', '{{x}}', '{', '}')),
  { maxLength: 6 },
).map((all) => all.join(''))

const scalar = fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null))
const record = fc.dictionary(name, fc.oneof(scalar, fc.array(scalar, { maxLength: 2 })), {
  maxKeys: 3,
  noNullPrototype: true,
})
const value = fc.oneof(scalar, record, fc.array(fc.oneof(scalar, record), { maxLength: 3 }))
const values = fc.dictionary(name, value, { noNullPrototype: true })

const path = fc.oneof(name, fc.constant('.'), fc.tuple(name, name).map((all) => all.join('.')))
const blank = fc.constantFrom('', ' ', '\n', '\n  ')
const { mustache } = fc.letrec<{ mustache: string; part: string }>((tie) => ({
  mustache: fc.array(tie('part'), { maxLength: 4 }).map((all) => all.join('')),
  part: fc.oneof({ maxDepth: 3, withCrossShrink: true }, text,
    fc.tuple(path, fc.constantFrom('{{N}}', '{{ N }}', '{{{N}}}', '{{&N}}', '{{& N }}'))
      .map(([each, form]) => form.replace('N', each)),
    fc.constantFrom('{{! a note }}', '\n', '{{', '}}', '{{/a}}', '{{=<% %>=}}', '<%a%>', '{{>a}}'),
    fc.tuple(path, fc.constantFrom('#', '^'), tie('mustache'), blank, blank)
      .map(([each, sign, inner, before, after]) =>
        `${before}{{${sign}${each}}}${after}${inner}${before}{{/${each}}}${after}`
      )),
}))

/** What the work gives, or that it fails. */
function outcome<Result>(work: () => Result): Result | 'fails' {
  try {
    return work()
  } catch (error) {
    expect(HeddleError.from(error).code).toBe('invalid')
    return 'fails'
  }
}

async function theirs<Result>(work: () => Promise<Result>): Promise<Result | 'fails'> {
  try {
    return await work()
  } catch {
    return 'fails'
  }
}

const serialised = (prompt: unknown): unknown => JSON.parse(JSON.stringify(prompt))

function asPlain(messages: readonly BaseMessage[]) {
  const roles: Readonly<Record<string, string>> = { human: 'user', ai: 'assistant',
    system: 'system' }
  return messages.map((message) => ({ role: roles[message.type], content: message.text }))
}

describe('messages', () => {
  it.each([['f-string', fString], ['mustache', mustache]] as const)(
    'of a template of the form %s are those of the library',
    (format, template) =>
      expectAlways(
        fc.asyncProperty(template, values, async (each, given) => {
          // The library knows its templates when it makes them.
          const prompt = await theirs(async () =>
            PromptTemplate.fromTemplate(each, { templateFormat: format })
          )
          if (prompt === 'fails') return
          const wanted = await theirs(
            async () => [{ role: 'user', content: await prompt.format(given) }],
          )
          // It crashes where an item of a list is null and is asked for a member.
          if (format === 'mustache' && wanted === 'fails') return
          expect(outcome(() => messagesOf(serialised(prompt), given))).toEqual(wanted)
        }),
      ),
  )

  it('of a chat are those of the library', () =>
    expectAlways(
      fc.asyncProperty(formats, fc.array(
        fc.tuple(fc.constantFrom('system', 'human', 'ai'), fc.array(name, { maxLength: 2 }), text),
        { minLength: 1, maxLength: 3 },
      ), values, fc.boolean(), async (format, parts, given, hasHistory) => {
        const [open, close] = format === 'mustache' ? ['{{', '}}'] : ['{', '}']
        const messages = parts.map(([role, used, plain]) =>
          [role, plain + used.map((each) => open + each + close).join(' ')] as [string, string]
        )
        const prompt = ChatPromptTemplate.fromMessages([...messages, ['placeholder',
          `${open}history${close}`], new AIMessage('raw {not a} name')], {
          templateFormat: format,
        })
        const history = [{ role: 'user', content: 'hi' }, ['ai', 'there'],
          serialised(new HumanMessage('and'))]
        const all = { ...given, ...hasHistory && { history } }
        const wanted = await theirs(async () =>
          asPlain(
            await prompt.formatMessages(
              { ...all, ...hasHistory &&
                {
                  history: [new HumanMessage('hi'), new AIMessage('there'),
                    new HumanMessage('and')],
                } } as never,
            ),
          )
        )
        const ours = outcome(() => messagesOf(serialised(prompt), all))
        if (format === 'f-string' || wanted !== 'fails') expect(ours).toEqual(wanted)
        expect(variablesOf(serialised(prompt)).toSorted())
          .toEqual((prompt.inputVariables as string[]).toSorted())
      }),
    ))

  it('have what was filled in before, and the texts of parts', () => {
    const prompt = serialised(ChatPromptTemplate.fromMessages([['human', [
      { type: 'text', text: 'Dear {who}' },
      { type: 'text', text: ', {what}' },
    ]]]))
    expect(variablesOf(prompt)).toEqual(['who', 'what'])
    expect(messagesOf(prompt, { who: 'Ada', what: { a: 1 } }))
      .toEqual([{ role: 'user', content: 'Dear Ada, {"a":1}' }])
    const filled = { lc: 1, type: 'constructor', id: ['langchain', 'PromptTemplate'],
      kwargs: { template: '{a}{b}', partial_variables: { a: 'x' } } }
    expect(variablesOf(filled)).toEqual(['b'])
    expect(messagesOf(filled, { b: 'y' })).toEqual([{ role: 'user', content: 'xy' }])
  })

  it.each([
    ['no prompt', { messages: [] }, /no prompt/],
    ['another prompt', { lc: 1, type: 'constructor', id: ['FewShotPromptTemplate'], kwargs: {} },
      /FewShotPromptTemplate cannot be used/],
    ['another format', { lc: 1, type: 'constructor', id: ['PromptTemplate'],
      kwargs: { template: '{{a}}', template_format: 'jinja2' } }, /f-string or mustache/],
    ['a missing value', serialised(PromptTemplate.fromTemplate('{a}')), /a value for "a"/],
  ])('of %s are refused, and it is said why', (_, manifest, message) => {
    expect(() => messagesOf(manifest, {})).toThrow(message)
  })

  it('are bounded, and know nothing of what values inherit', () => {
    const list = Array.from({ length: 100 }, () => 1)
    const bomb = `${'{{#list}}'.repeat(5)}x${'{{/list}}'.repeat(5)}`
    const of = (template: string) => ({ lc: 1, type: 'constructor', id: ['PromptTemplate'],
      kwargs: { template, template_format: 'mustache' } })
    expect(() => messagesOf(of(bomb), { list })).toThrow(/too long/)
    expect(() => messagesOf(of('{{#list}}{{text}}{{/list}}'), { list, text: 'x'.repeat(100_000) }))
      .toThrow(/too long/)
    expect(() => messagesOf(of('{{a}}'), { a: { toString: 1 } })).toThrow(/no text/)
    expect(messagesOf(of('{{constructor}}{{a.constructor.name}}'), { a: {} }))
      .toEqual([{ role: 'user', content: '' }])
    // Minutes if each blank were a new beginning.
    const blanks = ' '.repeat(500_000)
    expect(messagesOf(of(`{{a${blanks}.${blanks}}}`), {})).toEqual([{ role: 'user', content: '' }])
    // As many look-ups as sections times names, and as many steps as names have.
    expect(() => messagesOf(of(`${'{{#a}}'.repeat(200)}${'{{/a}}'.repeat(200)}`), { a: true }))
      .toThrow(/100 sections/)
    expect(() => messagesOf(of(`{{#list}}{{${'a.'.repeat(20_000)}a}}{{/list}}`), { list }))
      .toThrow(/too long/)
  })

  it('are bounded together, whatever stands in them often', () => {
    const template = (text: string) => ({ lc: 1, type: 'constructor', id: ['PromptTemplate'],
      kwargs: { template: text } })
    const message = (text: string) => ({ lc: 1, type: 'constructor',
      id: ['HumanMessagePromptTemplate'], kwargs: { prompt: template(text) } })
    const history = { lc: 1, type: 'constructor', id: ['MessagesPlaceholder'],
      kwargs: { variable_name: 'a' } }
    const chat = (messages: readonly unknown[]) => ({ lc: 1, type: 'constructor',
      id: ['ChatPromptTemplate'], kwargs: { messages } })
    const many = <Value>(value: Value, count = 1_000) => Array.from({ length: count }, () => value)
    for (const a of ['x'.repeat(100_000), many('x', 50_000)]) {
      expect(() => messagesOf(template('{a}'.repeat(100_000)), { a })).toThrow(/too long/)
      expect(() => messagesOf(chat(many(message('{a}'))), { a })).toThrow(/too long/)
    }
    for (const a of [many('x'), many(''), many('x'.repeat(100))]) {
      expect(() => messagesOf(chat(many(history)), { a })).toThrow(/too long/)
    }
  })
})

it('The model and the schema behind a prompt are found', () => {
  const schema = { title: 'x', type: 'object', properties: { score: { type: 'number' } } }
  const prompt = serialised(StructuredPrompt.fromMessagesAndSchema([['human', '{a}']], schema))
  const model = { lc: 1, type: 'constructor', id: ['langchain', 'chat_models', 'ChatOpenAI'],
    kwargs: { model: 'small' } }
  const bound = { lc: 1, type: 'constructor', id: ['langchain', 'RunnableBinding'],
    kwargs: { bound: model, kwargs: { temperature: 1 } } }
  const sequence = (last: unknown) => ({ lc: 1, type: 'constructor',
    id: ['langchain_core', 'runnables', 'RunnableSequence'], kwargs: { first: prompt, last } })
  expect(schemaOf(prompt)).toEqual(schema)
  expect(schemaOf(sequence(model))).toEqual(schema)
  expect(modelOf(prompt)).toBeNull()
  expect(modelOf(sequence(model))).toEqual(model)
  expect(modelOf(sequence(bound))).toEqual({ ...model, kwargs: { model: 'small', temperature: 1 } })
  expect(variablesOf(sequence(bound))).toEqual(['a'])
  expect(messagesOf(sequence(bound), { a: 'b' })).toEqual([{ role: 'user', content: 'b' }])
})
