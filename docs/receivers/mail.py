"""Mails each question, with a link to the page that answers it. Use it as a destination for `question.asked`."""

import os
import smtplib
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from muster import Muster, MusterError, verify_webhook

muster = Muster()


def send(question_id: str) -> None:
    question = muster.question.view(question_id=question_id)
    link = muster.question.link(question_id=question_id)
    mail = EmailMessage()
    mail['From'], mail['To'] = os.environ['MAIL_FROM'], os.environ['MAIL_TO']
    mail['Subject'] = f'{question.holder or "Somebody"} asks'
    mail.set_content(f'{question.question}\n\nAnswer: {link.answer_url}\nUntil: {question.expires_at}\n')
    with smtplib.SMTP(os.environ['SMTP_HOST'], int(os.environ.get('SMTP_PORT', '25'))) as server:
        server.send_message(mail)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        try:
            body = self.rfile.read(int(self.headers['Content-Length']))
            message = verify_webhook(body, self.headers, os.environ['SECRET'])
            if message.type == 'question.asked':
                send(message.data.payload['questionId'])
            status = 204
        except (MusterError, smtplib.SMTPException) as error:
            # Somebody may have answered already. After any other error Muster tries again.
            status = 204 if getattr(error, 'code', '') == 'QUESTION_CLOSED' else 500
        self.send_response(status)
        self.end_headers()


ThreadingHTTPServer(('', int(os.environ.get('PORT', '9000'))), Receiver).serve_forever()
