/** The version of a program names its release and its commit. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { expect, it, onTestFinished } from 'vitest'

import { ownBuild, ownRelease, ownVersion, readBuildNote } from '../../../src/settings/build.ts'

it('A server that runs from its source files reports that in place of a commit.', () => {
  expect(ownVersion()).toBe(`${ownRelease()}+source`)
})

it('Two builds of changed files on one commit differ, although their versions are equal.', () => {
  const folder = mkdtempSync(join(tmpdir(), 'heddle-build-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const builds = ['e2be18b4', '0badf00d'].map((sources) => {
    writeFileSync(join(folder, 'build.json'), JSON.stringify({ commit: '2988e945.dirty', sources }))
    return ownBuild(readBuildNote(pathToFileURL(`${folder}/`)))
  })
  expect(builds).toEqual(
    ['e2be18b4', '0badf00d'].map((sources) => `${ownRelease()}+2988e945.dirty ${sources}`),
  )
})
