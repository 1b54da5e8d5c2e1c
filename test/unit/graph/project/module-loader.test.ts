/** How a project's modules are found and compiled, and that each is loaded only once. */

import { mkdir, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { compileProject, readProject, startGraphHost } from '../../../../src/graph/index.ts'
import { virtualEnv } from '../../../support/env.ts'
import { openLibrary } from './open-library.ts'
import type { Ask } from './open-library.ts'
import { writeProject } from './project-files.ts'
import type { ProjectFiles } from './project-files.ts'
import { isNight } from '../../../support/repeats.ts'

/** A graph that is only loaded, never run: its `report` has what its file saw. */
const graphOf = (report: string) =>
  `export const graph = { lg_is_pregel: true, channels: {}, nodes: {}, report: ${report} }`

const langgraphJson = { graphs: { it: './src/graph.ts:graph' } }

const own = (name: string, version = '9.9.9') => ({
  'package.json': { name, version, type: 'module',
    exports: { '.': './index.js', './messages': './index.js', './pregel': './index.js',
      './package.json': './package.json' } },
  'index.js': `export const copy = 'own ${name}'`,
})
const installed = (folder: string, name: string, version?: string) =>
  Object.fromEntries(
    Object.entries(own(name, version)).map((
      [file, content],
    ) => [`${folder}/${name}/${file}`, content]),
  )

/** An engine that is there at once, for graphs that are only loaded. */
const engine = { ...installed('node_modules', '@langchain/langgraph'),
  ...installed('node_modules/@langchain/langgraph/node_modules', '@langchain/core') }

const writeLight = (files: ProjectFiles) => writeProject({ ...engine, ...files })

const reportOf = async (root: string) => reportTo(await openLibrary(root))

const reportTo = (ask: Ask) =>
  ask(async (library) => {
    const graph = await library.get('it', { access: 'assistants.read' })
    const { report } = graph as unknown as { report: unknown }
    return typeof report === 'function' ? await report() as unknown : report
  })

describe('the code of a project', () => {
  it('may use all of TypeScript, decorators and parameter properties included', async () => {
    const root = await writeLight({ 'langgraph.json': langgraphJson, 'src/graph.ts': `
      enum Colour { Red = 'red' }
      namespace Deep { export const value = 1 }
      class Point {
        constructor(readonly x: number, private y = 2) {}
        sum() { return this.x + this.y }
      }
      function twice(method: (...values: number[]) => number, _: unknown) {
        return (value: number) => 2 * method(value)
      }
      class Doubled { @twice static of(value: number) { return value } }
      ${graphOf('[Colour.Red, Deep.value, new Point(1).sum(), Doubled.of(4)]')}` })
    expect(await reportOf(root)).toEqual(['red', 1, 3, 8])
  })

  it('finds its files by tsconfig, package.json imports and without extensions', async () => {
    const root = await writeLight({
      'langgraph.json': langgraphJson,
      'package.json': { imports: { '#inner': './src/inner.ts' } },
      'tsconfig.json': { compilerOptions: { baseUrl: '.', paths: { '@/*': ['src/*'] } } },
      'src/graph.ts': `
        import { path } from '@/deep/path'
        import { based } from 'src/based'
        import { bare } from './bare'
        import { renamed } from './renamed.js'
        import { index } from './folder'
        import { inner } from '#inner'
        ${graphOf('[path, based, bare, renamed, index, inner]')}`,
      'src/deep/path.ts': `import { bare } from '../bare'; export const path = 'path ' + bare`,
      'src/based.ts': `export const based = 'based'`,
      'src/bare.ts': `export const bare: string = 'bare'`,
      'src/renamed.ts': `export const renamed = 'renamed'`,
      'src/folder/index.ts': `export const index = 'index'`,
      'src/inner.ts': `export const inner = 'inner'`,
    })
    expect(await reportOf(root))
      .toEqual(['path bare', 'based', 'bare', 'renamed', 'index', 'inner'])
  })

  it('may mix JSON, CommonJS, JSX, and imports of types without the word type', async () => {
    const root = await writeLight({
      'langgraph.json': langgraphJson,
      'package.json': { type: 'commonjs' },
      'src/graph.ts': `
        import data, { colour } from './data.json'
        import same from './data.json' with { type: 'json' }
        import old, { named } from './old.cjs'
        import typed from './typed.cts'
        import { element } from './element.tsx'
        import { Shape } from './shape'
        const shape: Shape = { side: 1 }
        ${graphOf('[data, colour, same, old, named, typed, element, shape]')}`,
      'src/data.json': { colour: 'red' },
      'src/old.cjs': `exports.named = require('./older'); exports.data = require('./data.json')`,
      'src/older.js': `module.exports = 'older'`,
      'src/typed.cts': `
        import path = require('node:path')
        interface Sep { sep: string }
        const sep: Sep = { sep: path.posix.sep }
        export = sep`,
      'src/element.tsx': `
        /** @jsx draw */
        const draw = (name: string) => '<' + name + '>'
        export const element = <b />`,
      'src/shape.ts': `export interface Shape { side: number }`,
    })
    const data = { colour: 'red' }
    expect(await reportOf(root)).toEqual([data, 'red', data, { named: 'older', data }, 'older', {
      sep: '/',
    }, '<b>', { side: 1 }])
  })

  it.runIf(isNight)('knows its URL, file name and folder', async () => {
    const root = await writeLight({ 'langgraph.json': langgraphJson,
      'src/graph.ts': graphOf('[import.meta.url, import.meta.filename, __dirname]') })
    const file = join(root, 'src/graph.ts')
    expect(await reportOf(root)).toEqual([`file://${file}`, file, join(root, 'src')])
  })

  it.runIf(isNight)('may call require(), as code that was compiled to CommonJS does', async () => {
    const root = await writeLight({
      'langgraph.json': langgraphJson,
      'src/graph.ts': `
        import os = require('node:os')
        import { own } from './own'
        const { word } = require('./data.json')
        const { shout } = require('./shout')
        if (require.main === module) throw new Error('This is not the program.')
        ${graphOf('[typeof os.cpus, word, shout(word), typeof require.resolve, own]')}`,
      'src/own.ts': `
        import { createRequire } from 'node:module'
        const require = createRequire(import.meta.url)
        export const own = require('./data.json').word`,
      'src/shout.ts': `export const shout = (text: string) => text.toUpperCase()`,
      'src/data.json': { word: 'hey' },
    })
    expect(await reportOf(root)).toEqual(['function', 'hey', 'HEY', 'function', 'hey'])
  })

  it.runIf(isNight)('may be a bundle with its own names for require()', async () => {
    const root = await writeLight({
      'langgraph.json': { graphs: { it: './dist/graph.js:graph' } },
      'package.json': { type: 'module' },
      'dist/graph.js': `
        import { createRequire as __createRequire } from 'node:module'
        const __module = { exports: __createRequire(import.meta.url)('node:os') }
        var __require = ((own) => typeof require !== 'undefined' ? require : own)(undefined)
        ${graphOf("[typeof __module.exports.cpus, __require('node:path').posix.sep]")}`,
    })
    expect(await reportOf(root)).toEqual(['function', '/'])
  })

  it.runIf(isNight)('may have been bundled as CommonJS, whose exports are named in dead code',
    async () => {
      const root = await writeLight({
        'langgraph.json': langgraphJson,
        'src/graph.ts': `import { word } from '../dist/word.cjs'; ${graphOf('word')}`,
        'dist/word.cjs': `
        module.exports = Object.defineProperty({}, 'word', { value: require('./data.json').word })
        0 && (module.exports = { word })`,
        'dist/data.json': { word: 'hey' },
      })
      expect(await reportOf(root)).toBe('hey')
    })

  it.runIf(isNight)('imports installed CommonJS as a CommonJS file would, unless it is a module',
    async () => {
      const root = await writeLight({
        'langgraph.json': langgraphJson,
        'package.json': {},
        'src/graph.ts': `
        import { twice } from 'computed'
        import * as computed from 'computed'
        import deep from 'computed/lib/deep'
        import folder from 'computed/lib'
        import Compiled, { other } from 'compiled'
        import { inModule } from './module.mts'
        ${graphOf('[twice(2), computed.twice(3), deep, folder, Compiled.name, other, inModule]')}`,
        'src/module.mts': `import all from 'compiled'; export const inModule = all.default.name`,
        'node_modules/computed/index.js': `module.exports = { ['twi' + 'ce']: (it) => 2 * it }`,
        'node_modules/computed/lib/deep.js': `module.exports = 'deep'`,
        'node_modules/computed/lib/index.js': `module.exports = 'folder'`,
        'node_modules/compiled/index.js': `
        exports.__esModule = true
        exports.default = class Compiled {}
        exports.other = 'other'`,
      })
      expect(await reportOf(root))
        .toEqual([4, 6, 'deep', 'folder', 'Compiled', 'other', 'Compiled'])
    })

  it.runIf(isNight)('may import by a computed name', async () => {
    const root = await writeLight({
      'langgraph.json': langgraphJson,
      'src/graph.ts': `const name = ['a', 'part.ts'].join('/')
        ${graphOf(`async () => [(await import('./' + name)).part, (await import('./b')).b]`)}`,
      'src/a/part.ts': `export enum Part { one = 'part' }; export const part = Part.one`,
      'src/b.ts': `export enum B { one = 'one' }; export const b = B.one`,
    })
    expect(await reportOf(root)).toEqual(['part', 'one'])
  })

  it.runIf(isNight)('is loaded once, however many graphs and names lead to it', async () => {
    const root = await writeLight({
      'langgraph.json': { graphs: { it: './src/graph.ts:graph', two: './two.ts:graph' } },
      'src/graph.ts': `import { log } from './log'; log.push('one'); ${graphOf('log')}`,
      'two.ts': `import { log } from './src/log.ts'; log.push('two')
        export * from './src/graph.js'`,
      'src/log.ts': `export const log: string[] = []`,
    })
    expect([...await reportOf(root) as string[]].sort()).toEqual(['one', 'two'])
  })

  it('has the lines of its source in stack traces', async () => {
    const root = await writeLight({ 'langgraph.json': langgraphJson, 'src/graph.ts': `
      interface Gone { so: string }
      enum Also { Gone }

      export function fail(): never {
        throw new Error('here')
      }
      ${graphOf(`() => { try { fail() } catch (error) { return error.stack } }`)}` })
    expect(await reportOf(root)).toContain(`${join(root, 'src/graph.ts')}:6:15`)
  })
})

/** Links a package as a package manager does for a workspace. */
async function link(root: string, source: string, installed: string): Promise<void> {
  await mkdir(dirname(join(root, installed)), { recursive: true })
  await symlink(join(root, source), join(root, installed))
}

describe('a workspace', () => {
  it('may have packages of TypeScript source that are linked into node_modules', async () => {
    const root = await writeLight({
      'langgraph.json': { graphs: { it: './apps/web/graph.ts:graph' } },
      'apps/web/graph.ts': `import { greet } from '@acme/shared'
        import { name } from 'installed'
        ${graphOf("[greet(name), import.meta.resolve('@acme/shared').split('/').at(-3)]")}`,
      'packages/shared/package.json': { name: '@acme/shared', exports: './src/index.ts' },
      // TypeScript that Node does not run by itself: a path without its extension, an enum.
      'packages/shared/src/index.ts': `export { greet } from './greet'`,
      'packages/shared/src/greet.ts': `enum Word { Hello = 'hello' }
        export const greet = (name: string): string => Word.Hello + ' ' + name`,
      'node_modules/installed/package.json': { type: 'module', exports: './index.js' },
      'node_modules/installed/index.js': `export const name = 'you'`,
    })
    await link(root, 'packages/shared', 'node_modules/@acme/shared')
    expect(await reportOf(root)).toEqual(['hello you', 'shared'])
  })

  it.runIf(isNight)('may have packages with native addons, which Node loads', async () => {
    const root = await writeLight({
      'langgraph.json': { graphs: { it: './graph.ts:graph' } },
      'graph.ts': `import { code } from 'native'
        ${graphOf('code')}`,
      'packages/native/package.json': { name: 'native', main: './index.js' },
      'packages/native/index.js': `
        try { require('./native.node') } catch (error) { exports.code = error.code }`,
      'packages/native/native.node': 'for no machine',
    })
    await link(root, 'packages/native', 'node_modules/native')
    expect(await reportOf(root)).toBe('ERR_DLOPEN_FAILED')
  })
})

describe('the engine', () => {
  it.each([
    ['too old', '0.2.64', 'export class CompiledStateGraph { bulkUpdateState() {} }',
      'The project runs on @langchain/langgraph 0.2.64, which is too old to be served'],
    ['old without saying it', '9.9.9', 'export class CompiledStateGraph {}',
      'The project runs on @langchain/langgraph 9.9.9, which is too old to be served'],
    ['broken', '9.9.9', 'import "@langchain/core/nowhere"', 'cannot be loaded from the project'],
  ])('is refused in one sentence if the copy is %s', async (_, version, code, message) => {
    const files = installed('node_modules', '@langchain/langgraph', version)
    const root = await writeProject({
      'langgraph.json': langgraphJson,
      'src/graph.ts': graphOf('null'),
      ...files,
      'node_modules/@langchain/langgraph/index.js': code,
    })
    const env = virtualEnv()
    const project = await compileProject(await readProject(root))
    await expect(startGraphHost({ env, workers: 1, project })).rejects
      .toMatchObject({ code: 'graph_failed', message: expect.stringContaining(message) })
    expect(env.lines).toEqual([])
  })

  it.each([
    ["the project's copy", ['node_modules'], 'node_modules'],
    ["the copy that only the graph's folder sees", ['src/node_modules'], 'src/node_modules'],
    ['the nearer of two copies', ['node_modules', 'src/node_modules'], 'src/node_modules'],
  ])('is %s, with the packages that this copy sees', async (_, folders, nearest) => {
    const root = await writeProject({
      'langgraph.json': langgraphJson,
      'src/graph.ts': `import { copy } from '@langchain/langgraph'
        import * as core from '@langchain/core/messages'
        ${graphOf('[copy, core.copy]')}`,
      ...Object.assign({}, ...folders.map((folder) => installed(folder, '@langchain/langgraph'))),
      ...installed(`${nearest}/@langchain/langgraph/node_modules`, '@langchain/core'),
    })
    const ask = await openLibrary(root)
    expect(await ask(async (library) => {
      const modules = [library.langgraph, library.messages] as unknown as { copy: string }[]
      return modules.map(({ copy }) => copy)
    })).toEqual(['own @langchain/langgraph', 'own @langchain/core'])
    expect(await reportTo(ask)).toEqual(['own @langchain/langgraph', 'own @langchain/core'])
  })

  it('is the copy of Heddle if the project has none, and only one instance of it', async () => {
    const root = await writeProject({
      'langgraph.json': langgraphJson,
      'src/graph.ts': `import * as langgraph from '@langchain/langgraph'
        import * as messages from '@langchain/core/messages'
        import { z } from 'zod'
        Object.assign(globalThis, { langgraph, messages })
        ${graphOf('typeof z.object')}`,
    })
    const ask = await openLibrary(root)
    expect(await reportTo(ask)).toBe('function')
    expect(await ask((library) => {
      const seen = globalThis as unknown as Record<string, unknown>
      return [library.langgraph === seen.langgraph, library.messages === seen.messages]
    })).toEqual([true, true])
  })

  it.runIf(isNight)('is the same instance for code that requires it and code that imports it',
    async () => {
      const root = await writeProject({
        'langgraph.json': { graphs: { it: './src/graph.cjs:graph', other: './other.ts:graph' } },
        'src/graph.cjs': `const { StateGraph } = require('@langchain/langgraph')
        const { ToolNode } = require('@langchain/langgraph/prebuilt')
        const { HumanMessage } = require('@langchain/core/messages')
        const seen = [StateGraph, ToolNode, HumanMessage]
        exports.graph = { lg_is_pregel: true, report: () =>
          seen.every((it, index) => it === globalThis.seen[index]) }`,
        'other.ts': `import { StateGraph } from '@langchain/langgraph'
        import { ToolNode } from '@langchain/langgraph/prebuilt'
        import { HumanMessage } from '@langchain/core/messages'
        Object.assign(globalThis, { seen: [StateGraph, ToolNode, HumanMessage] })
        ${graphOf('1')}`,
      })
      expect(await reportOf(root)).toBe(true)
    })

  it.runIf(isNight)('is not a fallback for packages that are not installed', async () => {
    const root = await writeProject({ 'langgraph.json': langgraphJson,
      'src/graph.ts': `import '@langchain/nowhere'; ${graphOf('1')}` })
    await expect(reportOf(root)).rejects.toMatchObject({
      code: 'graph_failed',
      message: expect.stringMatching(
        /Cannot find package '@langchain\/nowhere' imported from .*graph.ts/,
      ),
    })
  })
})
