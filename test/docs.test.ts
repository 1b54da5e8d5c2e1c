/** The pages about the code agree with the code: names of rules, paths, and the size of a page. */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { effectRules } from './simulation/effects/effect-world.ts'
import { platformRules } from './simulation/platform/platform-rule.ts'
import { replayRules } from './simulation/replay/replay-rule.ts'
import { rules as clusterRules } from './simulation/rule.ts'
import { waitingRules } from './simulation/waiting/waiting-world.ts'
import { repositoryFiles, root } from './support/source-tree.ts'

const rules: readonly string[] = [...clusterRules, ...effectRules, ...waitingRules, ...replayRules,
  ...platformRules]
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const invariants = read('docs/invariants.md')
const architecture = read('docs/architecture.md')

describe('the page of invariants', () => {
  const rows = [...invariants.matchAll(/^\| \[(\w+)\] \|.*\| `([^`]+)` \|$/gm)]

  it('has the rules that the simulation can take away', () => {
    expect(rows.map(([, name]) => name).toSorted()).toEqual([...rules].toSorted())
  })

  it('names a file that cites the rule', () => {
    const silent = rows.filter(([, name, path]) => !read(path!).includes(`[${name}]`))
    expect(silent.map(([, name, path]) => `${name}: ${path}`)).toEqual([])
  })

  it('has every rule that the code cites', () => {
    const cited = repositoryFiles().filter((path) => /^(src|cluster)\/.*\.ts$/.test(path))
      .flatMap((path) => [...read(path).matchAll(/Rules?: ((?:\[\w+\][ ,.]*)+)/g)])
      .flatMap(([, list]) => [...list!.matchAll(/\[(\w+)\]/g)].map(([, name]) => name!))
    expect(cited.length).toBeGreaterThan(10)
    expect(cited.filter((name) => !rules.some((rule) => rule === name))).toEqual([])
  })
})

describe('the page of the architecture', () => {
  it('explains 30 words at most', () => {
    const [, glossary = ''] = /## Glossary\n([^]*?)\n## /.exec(architecture) ?? []
    const words = glossary.split('\n').filter((line) => line.startsWith('| ')).slice(1)
    expect(words.length).toBeGreaterThan(10)
    expect(words.length).toBeLessThanOrEqual(30)
  })
})

describe('the pages about the code', () => {
  it('name files and folders that exist', () => {
    for (const page of ['docs/architecture.md', 'docs/invariants.md', 'CONTRIBUTING.md']) {
      const named = [...read(page).matchAll(/`((?:src|cluster|test|proto|docs)\/[\w./-]+)`/g)]
      const missing = named.map(([, path]) => path!).filter((path) => !existsSync(join(root, path)))
      expect(missing, page).toEqual([])
    }
  })

  it('name files of the Studio that exist', () => {
    const named = [...read('docs/studio.md').matchAll(/`([\w-]+\/[\w./-]*)`/g)]
    const missing = named.map(([, path]) => path!).filter((path) =>
      !existsSync(join(root, /^(src|test|scripts)\//.test(path) ? path : `src/studio/${path}`))
    )
    expect(named.length).toBeGreaterThan(50)
    expect(missing).toEqual([])
  })

  it('name files of the cluster that exist', () => {
    const named = [...read('cluster/README.md').matchAll(/`([\w-]+\/[\w./-]*)`/g)]
    const missing = named.map(([, path]) => path!)
      .filter((path) => path !== 'cluster/' && !existsSync(join(root, 'cluster', path)))
    expect(missing).toEqual([])
  })

  it('are as short as they promise', () => {
    expect(read('CONTRIBUTING.md').split('\n').length - 1).toBeLessThanOrEqual(60)
  })
})
