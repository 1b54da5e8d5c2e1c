/** Builds of uploaded files: what is installed, what the build may see, and how it ends. */

import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'

import { describe, expect, it, vi } from 'vitest'

import { systemEnv } from '../../../../cluster/index.ts'
import { buildRemotely, clearBuilds, packSources, platformHere,
  revisionLimits } from '../../../../src/revision/index.ts'
import type { RemoteBuildOptions } from '../../../../src/revision/index.ts'
import { inWork } from '../../../../src/revision/remote/build-mail.ts'
import type { BuildMail } from '../../../../src/revision/remote/build-mail.ts'
import { doBuild } from '../../../../src/revision/remote/do-build.ts'
import { smallProject } from '../../cli/control/small-project.ts'
import { freshFolder, writeTree } from '../trees.ts'
import { isNight } from '../../../support/repeats.ts'
import { gzippedTar } from '../../../support/tar-files.ts'

const env = systemEnv({ level: 'silent' })
const source = { commit: 'c', branch: 'main', dirty: false }

/** A program `npm` that installs the engine, notes that it ran, and what it saw. */
async function house(script = '') {
  const directory = await freshFolder()
  const programs = join(directory, 'programs')
  const ran = join(directory, 'ran')
  const engine = 'node_modules/@langchain/langgraph'
  await writeTree(programs, { npm: { program: `#!/bin/sh
echo "$@" >> ${ran}; env | sort > ${ran}.env; ls -A > ${ran}.files
${script}
mkdir -p ${engine}
echo '{"name": "@langchain/langgraph", "version": "1.0.0"}' > ${engine}/package.json
echo 'module.exports = "installed"' > ${engine}/index.js
echo "added 1 package"
` } })
  const builds = join(directory, 'builds')
  const lines: string[] = []
  const build = async (more: Partial<RemoteBuildOptions> & Pick<RemoteBuildOptions,
    | 'source'
    | 'fetch'>) =>
    await buildRemotely({ config: 'langgraph.json', said: { wantsEnv: ['KEY'], source },
      platform: platformHere(), scope: 'acme', directory: builds, say: (line) =>
        void lines.push(line), env, signal: new AbortController().signal,
      variables: { PATH: `${programs}:${process.env['PATH']}`, OPENAI_API_KEY: 'secret',
        npm_config_registry: 'https://packages.example' }, ...more },
      async (built) => ({ ...built,
        texts: await Promise.all(built.manifest.archives.flatMap(({ chunks }) => chunks)
          .map(async ({ sha256 }) => `${zstdDecompressSync(await built.chunk(sha256))}`)) }))
  const ofTar = (tar: Buffer) => ({ source: { kind: 'tar' } as const,
    fetch: (to: string) => writeFile(to, tar) })
  /** The work of a build without its process, and how it ended. */
  const work = async ({ source: form, fetch, scope = 'acme', config = 'langgraph.json' }:
    & Pick<RemoteBuildOptions, 'source' | 'fetch'>
    & Partial<Pick<RemoteBuildOptions, 'scope' | 'config'>>) => {
    const folder = await freshFolder()
    await fetch(join(folder, inWork.source))
    vi.stubEnv('PATH', `${programs}:${process.env['PATH']}`)
    const mail = await doBuild({ source: form, config, said: { wantsEnv: ['KEY'], source },
      platform: platformHere(), scope, limits: revisionLimits, work: folder,
      installed: join(builds, 'installed') }, { say: (line) => void lines.push(line), env })
    vi.unstubAllEnvs()
    const { manifest } = mail as Extract<BuildMail, { kind: 'done' }>
    return { ...mail, manifest, refusal: mail.kind === 'refused' && [mail.code, mail.message],
      texts: manifest?.archives.flatMap(({ chunks }) => chunks).map(({ sha256 }) =>
        `${zstdDecompressSync(readFileSync(join(folder, inWork.chunks, sha256)))}`
      ) }
  }
  return { ran, builds, lines, build, ofTar, work,
    refusal: async (tar: Buffer) => (await work(ofTar(tar))).refusal }
}

const project = [{ path: 'langgraph.json', text: '{"graphs": {"agent": "./agent.ts:graph"}}' }, {
  path: 'package.json',
  text: '{"dependencies": {"@langchain/langgraph": "1.0.0"}}',
}, { path: 'package-lock.json', text: '{"lockfileVersion": 3}' }, { path: 'agent.ts',
  text: "import '@langchain/langgraph'\nexport const graph = 1\n" }]

describe('a remote build', () => {
  it('installs once for a lock file, and knows nothing of the server', async () => {
    const { ran, builds, lines, build, ofTar, work } = await house()
    const tar = gzippedTar(...project, { path: '.yarnrc.yml', text: 'yarnPath: evil.js' }, {
      path: 'node_modules/@langchain/langgraph/index.js',
      text: 'evil',
    })
    const first = await build(ofTar(tar))
    expect(first.manifest).toMatchObject({ config: 'langgraph.json', wants_env: ['KEY'], source })
    expect(first.texts.join('')).toContain('module.exports = "installed"')
    expect(first.texts.join('')).toContain('yarnPath')
    expect(readFileSync(ran, 'utf8'))
      .toBe('ci --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=notice\n')
    expect(readFileSync(`${ran}.files`, 'utf8'))
      .toBe('.yarnrc.kept.yml\nagent.ts\nlanggraph.json\npackage-lock.json\npackage.json\n')
    const seen = readFileSync(`${ran}.env`, 'utf8')
    expect(seen).toContain('npm_config_registry=https://packages.example')
    expect(seen).not.toContain('secret')
    expect(lines).toContain('added 1 package')

    const second = await work(
      ofTar(
        gzippedTar(...project.slice(0, 3), { path: '.yarnrc.yml', text: 'yarnPath: evil.js' }, {
          path: 'agent.ts',
          text: "import '@langchain/langgraph'\nexport const graph = 2\n",
        }),
      ),
    )
    expect(readFileSync(ran, 'utf8').split('\n')).toHaveLength(2)
    expect(second.manifest.archives.slice(1)).toEqual(first.manifest.archives.slice(1))
    expect(second.manifest.archives[0]).not.toEqual(first.manifest.archives[0])
    // Nobody gets what somebody else installed.
    await work({ ...ofTar(tar), scope: 'other' })
    expect(readFileSync(ran, 'utf8').split('\n')).toHaveLength(3)
    expect(readdirSync(builds)).toEqual(['installed'])
  })

  it('takes the archive of a project, as it is packed elsewhere', async () => {
    const { work } = await house()
    const folder = await smallProject({ '.env': 'A=1',
      'langgraph.json': '{"env": ".env", "graphs": {"agent": "./agent.ts:graph"}}' })
    const { archive, chunks, config, wantsEnv } = await packSources(folder)
    expect([config, wantsEnv]).toEqual(['langgraph.json', ['A']])
    const { texts } = await work({ config, source: { kind: 'archive', archive },
      fetch: async (to) => {
        await mkdir(to)
        for (const { sha256, data } of chunks) await writeFile(join(to, sha256), data)
      } })
    expect(texts?.join('')).toContain('module.exports = "installed"')
    expect(texts?.join('')).not.toContain('A=1')
  })

  it('is refused in the words of a build elsewhere, and leaves nothing', async () => {
    const { builds, build, ofTar, refusal } = await house()
    const [config, manifest, lock, agent] = project as [typeof project[0], typeof project[0],
      typeof project[0], typeof project[0]]
    expect(await refusal(gzippedTar(config, manifest, agent)))
      .toEqual(['no_lock_file', expect.stringMatching(/has no lock file/)])
    expect(
      await refusal(
        gzippedTar(config, manifest, { ...lock,
          text: '{"a": {"version": "git+ssh://git@example.org/a.git#1"}}' }, agent),
      ),
    )
      .toEqual(['not_from_registry', expect.stringMatching(/registries only/)])
    expect(await refusal(gzippedTar(config, manifest, lock, { ...agent, text: 'export const =' })))
      .toEqual(['no_compile', expect.stringMatching(/^agent\.ts:1:/)])
    expect(await refusal(gzippedTar({ path: '../a' })))
      .toEqual(['escapes', expect.stringMatching(/leads out of the tree/)])
    const guarded = { ...config,
      text: config.text.replace('}}', '}, "auth": {"path": "./a.ts:a"}}') }
    expect(await refusal(gzippedTar(guarded, manifest, lock, agent)))
      .toEqual([expect.anything(), expect.stringMatching(/auth\.path names a file that is not/)])
    expect(await refusal(gzippedTar(...project.slice(1))))
      .toEqual([expect.anything(), expect.stringMatching(/langgraph\.json/)])
    if (isNight) {
      await expect(build(ofTar(gzippedTar(...project.slice(1))))).rejects
        .toMatchObject({ code: 'no_install', message: expect.stringMatching(/langgraph\.json/) })
    }
    // The refusal of its code is the only one that comes after the installation.
    expect(readdirSync(builds)).toEqual(['installed'])
  })

  it('says what its installer said last', async () => {
    const { refusal } = await house('echo "npm error the lock file is stale" >&2; exit 1')
    expect(await refusal(gzippedTar(...project))).toEqual(['no_install',
      'npm ci could not install the packages:\nnpm error the lock file is stale'])
  })

  it('ends in time, with all programs that it has begun', async () => {
    const { ran, builds, build, ofTar } = await house(
      'sleep 1000 & echo $! > $0.pid; echo begun; wait',
    )
    let late = () => {}
    // The time is up as soon as the installer runs.
    await expect(
      build({ ...ofTar(gzippedTar(...project)), limitMs: 5_000,
        say: (line) => line === 'begun' && late(), env: { after: (_ms, fn) => {
          late = fn
          return () => {}
        } } }),
    ).rejects.toMatchObject({ code: 'no_install',
      message: expect.stringMatching(/longer than 5 seconds/) })
    const pid = Number(readFileSync(join(ran, '../programs/npm.pid'), 'utf8'))
    await expect.poll(() =>
      existsSync(`/proc/${pid}/environ`) &&
      readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ') === false
    ).toBe(false)
    expect(readdirSync(builds)).toEqual([])
  })

  it('leaves a folder only if its server dies, and the next one removes that', async () => {
    const builds = await freshFolder()
    const gone = spawnSync('true').pid
    await writeTree(builds, { [`work-${gone}-abc/project/a.ts`]: '', 'work-1-abc/a': '',
      [`work-${process.pid}-abc/a`]: '', 'installed/key/bytes': '1' })
    await clearBuilds(builds)
    expect(readdirSync(builds).toSorted()).toEqual(['installed', 'work-1-abc'])
    await clearBuilds(join(builds, 'none'))
  })
})
