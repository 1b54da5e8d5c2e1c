/** Every regular expression of the server takes time in proportion to its text. */

import { createContext, Script } from 'node:vm'
import { describe, expect, it } from 'vitest'

import { extractPath, statePart } from '../../../src/api/index.ts'
import * as ofSecrets from '../../../src/graph/secrets/built-expressions.ts'
import { expressionsIn, hostileTexts, piecesOf } from '../../support/regular-expressions.ts'
import type { FoundExpression } from '../../support/regular-expressions.ts'
import { isNight } from '../../support/repeats.ts'
import { readSource, repositoryFiles } from '../../support/source-tree.ts'

const sources = repositoryFiles().filter((path) => /^(src|cluster)\/.*\.ts$/.test(path))
  .map(readSource)

/** A linear one takes a few hundredths of a millisecond for the last, a quadratic one 100. */
const lengths = [300, 32_000]
/** One that was ended is slow if it had the processor for so long. */
const slowMs = 30
/** How long it may take at first: with half of a processor, as long as a slow one needs. */
const firstTimeoutMs = 2 * slowMs
/** Some seconds of processor time: only a test that hangs takes so long, on any machine. */
const machineMs = 900_000
/** Tried at once: each timeout costs a thread. */
const together = 100

/**
 * Their expressions are made of our own tables: `[^/]+` between slashes, anchored. The third one
 * makes those of ignore files, on the machine of whoever wrote them. The last one makes those of
 * customers, which only an engine that never goes back may match. The
 * expressions of secrets are made of a table of words, and tested below like literals.
 */
const builders = ['src/frontdoor/rest/not-found.ts', 'src/graph/secrets/built-expressions.ts',
  'src/limits/match.ts', 'src/revision/closure/ignore-rules.ts', 'src/settings/linear-pattern.ts']

const script = new Script('for (const text of texts) ' +
  'isGlobal ? text.replaceAll(expression, "") : expression.test(text)')

/** The beginning of a text that takes too long; undefined if none does. */
function hostileTo({ source, flags }: FoundExpression): string | undefined {
  const scope = { expression: new RegExp(source, flags), isGlobal: flags.includes('g'),
    texts: [] as readonly string[] }
  const context = createContext(scope)
  const isSlow = (...texts: readonly string[]) => {
    scope.texts = texts
    // A busy machine gives it less of a processor: then it gets more time.
    for (let timeout = firstTimeoutMs;; timeout *= 2) {
      const before = process.threadCpuUsage()
      try {
        script.runInContext(context, { timeout })
        return false
      } catch {
        const { user, system } = process.threadCpuUsage(before)
        if (user + system > 1_000 * slowMs) return true
      }
    }
  }
  for (const length of lengths) {
    const texts = [...hostileTexts(piecesOf(source), length)]
    for (let at = 0; at < texts.length; at += together) {
      const some = texts.slice(at, at + together)
      if (!isSlow(...some)) continue
      const worst = some.find((text) => isSlow(text))
      if (worst !== undefined) return `${worst.slice(0, 24)}… × ${length}`
    }
  }
  return undefined
}

describe('a regular expression', () => {
  it.runIf(isNight)('takes time in proportion to its text', { timeout: machineMs }, () => {
    const inCode = sources.flatMap(({ path, text }) =>
      expressionsIn(text).map((found) => ({ path, ...found }))
    )
    expect(inCode.length).toBeGreaterThan(80)
    const inSchemas = [extractPath, statePart]
      .map(({ pattern }) => ({ path: 'src/frontdoor/schema', source: pattern, flags: 'u' }))
    const inSecrets = Object.values(ofSecrets)
      .map(({ source, flags }) => ({ path: 'src/graph/secrets/built-expressions.ts', source,
        flags })
      )
    const slow = [...inCode, ...inSchemas, ...inSecrets].flatMap((found) => {
      const text = hostileTo(found)
      return text === undefined ? [] : [`${found.path} /${found.source}/: ${text}`]
    })
    expect(slow).toEqual([])
  })

  it('is written as a literal, so that this test finds it', () => {
    const built = sources.filter(({ bare }) => /\bnew RegExp\(|[^.\w]RegExp\(/.test(bare))
    expect(built.map(({ path }) => path)).toEqual(builders)
  })

  it.each([
    ['\\beyJ[\\w-]+\\.[\\w-]+\\.[\\w-]*', ''],
    ['(a+)+$', ''],
    ['\\s+$', 'g'],
    ['\\[(.*)\\]', ''],
    ['(\\w+)\\s*=', ''],
  ])('is found to be slow: %s', (source, flags) => {
    expect(hostileTo({ source, flags })).toBeDefined()
  })
})
