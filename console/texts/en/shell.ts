/** Words of the frame around all pages, of signing in and of one-time links. */
export const shell = {
  account: 'Your account',
  again: 'Sign in again',
  againHint: 'Your session ended. What you typed is still here.',
  agents: 'Agents',
  calls: 'Calls',
  choose: 'Choose a workspace',
  dark: 'Dark',
  home: 'Home',
  leads: 'Leads',
  light: 'Light',
  live: 'Live',
  look: 'Appearance',
  menu: 'Menu',
  noWorkspace: 'You belong to no workspace yet',
  noWorkspaceHint: 'Ask a colleague to invite you, or the operator to add you.',
  operator: 'Operator',
  product: 'Parley',
  settings: 'Settings',
  signOut: 'Sign out',
  signedInAs: (name: string) => `Signed in as ${name}`,
  skip: 'Skip to the page',
  system: 'As the system',
  workspace: 'Workspace',
  cannotStart: 'The console could not start',
};

export const signInWords = {
  title: 'Sign in',
  email: 'Email',
  password: 'Password',
  code: 'Code of your authenticator',
  codeHint: 'Six digits of the app in which you set Parley up.',
  action: 'Sign in',
  wrong: 'That email and password do not belong together.',
  wrongCode: 'That code does not fit, or was used already. Wait for the next one.',
  passkey: 'Sign in with a passkey',
  passkeyBeside: 'Use your passkey',
  wrongPasskey: 'This passkey signs nobody in here. Use another one, or your password.',
  declined: 'The passkey was not used. Try again, or sign in otherwise.',
  openId: (name: string) => `Sign in with ${name}`,
  refused: {
    openid_refused:
      'That sign-in came to nothing: it took too long, was refused, or began in another window. Try again.',
    openid_unavailable: 'The provider does not answer. Try again, or sign in otherwise.',
    openid_email_refused: 'The provider does not vouch for your email, or its domain may not come in here.',
    openid_not_invited: 'Nobody here has your email. Ask a colleague to invite you.',
    openid_not_linked:
      'Somebody here has your email and another way in. Sign in so, then add the account in your settings.',
    openid_taken: 'That account signs in somebody else here.',
  },
  wait: (seconds: number) => `Too many tries. Try again in ${seconds} s.`,
  noUser: 'Nobody can sign in here yet',
  noUserHint:
    'The first person comes by a one-time link. npm start prints it where the service runs; this makes another one:',
  command: 'npx parley user link',
  forgot:
    'Forgot it, or lost the device? An owner of your workspace, or npx parley user reset where the service runs, makes a link for a new one.',
};

export const linkWords = {
  first_user: 'Welcome to Parley',
  invitation: 'Join your colleagues',
  reset: 'Choose a new password',
  about: {
    first_user: 'You are the first. You will sign in with your email and a password; you can invite others afterwards.',
    invitation: (workspace: string) => `You were invited to ${workspace}. Choose a password.`,
    reset: 'Your old password and all your sessions end when you save this one.',
  },
  name: 'Your name',
  email: 'Email',
  password: 'Password',
  passwordHint: 'At least 12 characters. A few words that only you put together are good.',
  action: { first_user: 'Create my account', invitation: 'Join', reset: 'Save and sign in' },
  over: 'This link cannot be used',
  overHint: 'It was used already, or is older than a day. Ask whoever gave it to you for another one.',
  toSignIn: 'To the sign-in',
};
