import { defineText } from "./language";

export const accountText = defineText({
  en: {
    title: "Sign in",
    lead: "This Chie wants to know who you are. Whoever runs it gives you a token.",
    token: "Token",
    tokenNote: "It stays in this browser, where no script can read it, until you sign out.",
    signIn: "Sign in",
    signingIn: "Signing in…",
    account: (name: string) => `Signed in as ${name}`,
    admin: "Admin",
    signOut: "Sign out",
  },
  ja: {
    title: "サインイン",
    lead: "この Chie を使うにはサインインが必要です。トークンは管理者から受け取ってください。",
    token: "トークン",
    tokenNote: "サインアウトするまでこのブラウザーに保存されます。スクリプトからは読めません。",
    signIn: "サインイン",
    signingIn: "サインイン中…",
    account: (name: string) => `${name} でサインイン中`,
    admin: "管理者",
    signOut: "サインアウト",
  },
});
