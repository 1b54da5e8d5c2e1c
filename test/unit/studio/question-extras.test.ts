/** Tools, a schema and images of a question: what is sent, and what is said of mistakes. */

import { expect, it } from 'vitest'

import { extrasOf, imageBytesMax, imageFault, noExtras, schemaIn,
  toolsIn } from '../../../src/studio/playground/question-extras.ts'

const parameters = { type: 'object' }

it('Tools come as a list or alone, in the form of either dialect', () => {
  const tool = { name: 'look_up', description: 'Looks.', parameters }
  const forms = [tool, [tool], [{ type: 'function', function: tool }], [{ name: 'look_up',
    description: 'Looks.', input_schema: parameters }]]
  for (const form of forms) expect(toolsIn(JSON.stringify(form))).toEqual([tool])
  expect(toolsIn('{"name": "now"}')).toEqual([{ name: 'now', parameters }])
  expect(toolsIn(' ')).toEqual([])
})

it('Mistakes are named in words', () => {
  const cases: readonly [() => unknown, string][] = [
    [() => toolsIn('{'), 'This is no JSON'],
    [() => toolsIn('[{"name": "a"}, 3]'), 'Tool 2: expected an object'],
    [() => toolsIn('{"name": "two words"}'), 'Tool 1: its name'],
    [() => toolsIn('{"name": "a", "parameters": 1}'), 'Tool 1: its parameters'],
    [() => schemaIn('[]'), 'A schema is a JSON object'],
    [() => extrasOf({ ...noExtras, tools: '{"name": "a"}', schema: '{}' }), 'not asked for both'],
  ]
  for (const [work, words] of cases) expect(work).toThrow(words)
})

it('Images fit together, or the one that does not is named', () => {
  const image = (name: string, size: number, type = 'image/png') => ({ name, size, type })
  const chosen = (bytes: number) => ({ name: 'a.png', bytes, dataUrl: 'data:' })
  expect(imageFault(image('b.png', 10), [chosen(imageBytesMax - 10)])).toBeUndefined()
  expect(imageFault(image('b.png', 11), [chosen(imageBytesMax - 10)]))
    .toContain('b.png is too large: all images may have 3 MB together')
  expect(imageFault(image('b.svg', 1, 'image/svg+xml'), [])).toContain('b.svg is no PNG')
})

it('Nothing is sent of what nobody gave', () => {
  expect(extrasOf(noExtras)).toEqual({})
  expect(
    extrasOf({ tools: '', schema: '{"type": "object"}',
      images: [{ name: 'a', bytes: 1, dataUrl: 'data:image/png;base64,AA==' }] }),
  )
    .toEqual({ schema: { type: 'object' }, images: ['data:image/png;base64,AA=='] })
})
