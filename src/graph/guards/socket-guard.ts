/**
 * Loaded in each thread of a graph process: rejects Unix sockets. Node's permissions do not cover
 * them, and programs such as Docker and PostgreSQL trust every process of a user that can connect.
 */

import { constants } from 'node:os'

import { replaceForGood } from './refusal.ts'
import { pipePrototype } from './system-sockets.ts'

const prototype = pipePrototype()
const denied = -constants.errno.EACCES

// Each connection to a path, and each server at a path, fails with `EACCES`.
replaceForGood(prototype, 'connect', () => denied)
replaceForGood(prototype, 'bind', () => denied)
