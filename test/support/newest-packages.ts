/**
 * The newest packages of the ecosystem, pinned in test/newest. With HEDDLE_TEST_ENGINE=newest the
 * projects of tests run on these. The default setup of the vitest project `newest` installs them.
 */

import { cp, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'

import { installPackages } from './installed-packages.ts'

const newest = resolve(import.meta.dirname, '../newest')
const projects = join(import.meta.dirname, 'projects')

/**
 * Copies of the projects. A graph resolves its packages from where its file is, so these find the
 * newest ones.
 */
const copies = join(newest, 'node_modules/.projects')

/** The folder that holds the projects that tests serve. */
export function projectsFolder(): string {
  return process.env['HEDDLE_TEST_ENGINE'] === 'newest' ? copies : projects
}

/** Installs the packages unless they are there, and copies the projects beside them. */
export async function setup(): Promise<() => Promise<void>> {
  await installPackages(newest, 'the newest packages of the ecosystem')
  await rm(copies, { recursive: true, force: true })
  await cp(projects, copies, { recursive: true })
  return () => rm(copies, { recursive: true, force: true })
}
