/** Keeps a message that cannot be drawn from taking its page along. */

import { Component } from 'react'
import type { ReactNode } from 'react'

interface GuardProps {
  readonly children: ReactNode
}

interface GuardState {
  readonly failed: boolean
}

/** Graphs write messages of any shape: one that fails is a sentence, and the others are there. */
export class MessageGuard extends Component<GuardProps, GuardState> {
  static getDerivedStateFromError(): GuardState {
    return { failed: true }
  }

  override state: GuardState = { failed: false }

  override render(): ReactNode {
    return this.state.failed
      ? <p>This message cannot be shown here. The state of the thread has it as it is.</p>
      : this.props.children
  }
}
