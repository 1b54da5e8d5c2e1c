/** Compiling a project of many files: the lookup of packages does not grow with the files. */

import { expect, it, vi } from 'vitest'

import { compileProject, readProject } from '../../../../src/graph/index.ts'
import { writeProject } from './project-files.ts'

const emitted = vi.hoisted(() => ({ questions: 0 }))

vi.mock('esbuild', async (original) => {
  const real = await original<typeof import('esbuild')>()
  const build: typeof real.build = (options) =>
    real.build({ ...options,
      plugins: (options.plugins ?? []).map(({ name, setup }) => ({ name, setup: (its) =>
        setup({
          ...its,
          resolve: (...question) => {
            emitted.questions++
            return its.resolve(...question)
          },
        }) })
      ) })
  return { ...real, build }
})

it('A package is looked up once, however many files of a folder import it.', async () => {
  const files = Array.from({ length: 100 },
    (_,
      i) => [`f${i}.ts`,
      `import 'node:fs'; import 'here'; import 'nowhere'; export * from './f${
        Math.min(i + 1, 99)
      }'`])
  const { sources } = await compileProject(await readProject(await writeProject({
    'langgraph.json': { graphs: { it: './f0.ts:it' } },
    ...Object.fromEntries(files),
    'node_modules/here/index.js': '',
  })))
  expect(sources.size).toBe(100)
  expect(emitted.questions).toBe(3)
})
